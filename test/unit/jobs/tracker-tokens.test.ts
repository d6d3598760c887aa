// Tokens that inference servers report are charged to the job that serves, from the first look on, and stay over a restart of the agent; memory is held over time.
import { expect, test } from 'vitest'
import { inferenceTokensTotal } from '../../../agent/metrics/inference.ts'
import type { Labels } from '../../../agent/model/series.ts'
import { A, B, GIB, GPU, reading, T, useTracker } from './tracker-scene.ts'

const { event, scrape, second, rows, named, restarted, tracker } = useTracker()
const say = (t: number, labels: Labels, prompt: number, generated: number): void =>
  scrape('inference-servers', '', t, [
    reading(inferenceTokensTotal, { ...labels, type: 'prompt' }, prompt),
    reading(inferenceTokensTotal, { ...labels, type: 'generation' }, generated),
  ])
const charged = () =>
  tracker()
    .figures()
    .use.map(({ owner: { user }, use: { tokens } }) => [user, tokens] as const)

test('what a server had processed before is nobody’s, and a counter that starts over counts from zero', () => {
  event(A, 'start', T)
  event(B, 'start', T)
  say(T, { name: 'serve', container: B.container }, 1_000_000, 500_000)
  say(T + 5_000, { name: 'serve', container: B.container }, 1_000_200, 500_050)
  say(T + 10_000, { name: 'serve', container: B.container }, 30, 7)
  expect(named('serve')).toMatchObject([{ tokens: 287 }])
  expect(named('train')[0]).not.toHaveProperty('tokens')
  expect(charged()).toEqual([[undefined, 287]])
})

test('of a process on the host, by its pid; of one that is not known they are counted without an owner', () => {
  const root = { pid: 40, start_ticks: 1, started_at: T, command: 'llama-server' }
  tracker().ingest({ type: 'process', t: T, action: 'seen', pid: 40, root, ancestors: [], user: 'ada', uid: 1_001 })
  say(T, { name: 'llama', pid: '40' }, 0, 0)
  say(T, { name: 'other', pid: '41' }, 0, 0)
  say(T + 5_000, { name: 'llama', pid: '40' }, 100, 20)
  say(T + 5_000, { name: 'other', pid: '41' }, 0, 3)
  expect(rows()).toMatchObject([{ user: 'ada', uid: 1_001, tokens: 120 }])
  expect(new Map(charged())).toEqual(
    new Map([
      ['ada', 120],
      [undefined, 3],
    ]),
  )
})

test('tokens and memory over time go on after a restart of the agent', () => {
  event(A, 'start', T)
  say(T, { name: 'serve', container: A.container }, 0, 0)
  say(T + 2_000, { name: 'serve', container: A.container }, 10, 5)
  for (let at = 0; at <= 4; at++) second(T + at * 1_000, 1, 300, [[{ ...A, pid: '7' }, 2 * GIB]])
  const before = rows()[0]
  expect(before).toMatchObject({ tokens: 15, gpus: [{ ...GPU, held_seconds: 4, memory_byte_seconds: 8 * GIB }] })
  restarted()
  expect(rows()[0]).toEqual(before)
  say(T + 6_000, { name: 'serve', container: A.container }, 20, 5)
  say(T + 8_000, { name: 'serve', container: A.container }, 24, 5)
  expect(rows()).toMatchObject([{ tokens: 19 }])
})
