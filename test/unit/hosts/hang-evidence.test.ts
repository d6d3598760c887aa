// What agents keep for each other of jobs that hang: the newest, for a while, of so many jobs.
import { expect, test } from 'vitest'
import { createHangEvidence } from '../../../agent/hosts/hang-evidence.ts'
import type { HostLink } from '../../../agent/hosts/link.ts'

const link = (name: string, answer: Awaited<ReturnType<HostLink['get']>>, asked: string[] = []): HostLink => ({
  name,
  get: async (path) => {
    asked.push(path)
    return answer
  },
  target: async () => ({ url: '', token: '' }),
  close: () => {},
})

test('the newest of a job is kept for 100 s', () => {
  let now = 1_000_000
  const kept = createHangEvidence(
    () => [],
    () => now,
  )
  kept.share('node-a:29500', 'first')
  kept.share('node-a:29500', 'second')
  expect(kept.of('node-a:29500')).toBe('second')
  expect(kept.of('node-a:29501')).toBeUndefined()
  now += 100_001
  expect(kept.of('node-a:29500')).toBeUndefined()
})

test('of 64 jobs at most, the oldest goes first', () => {
  const kept = createHangEvidence(() => [])
  for (let job = 0; job < 100; job++) kept.share(`node:${job}`, `evidence ${job}`)
  expect(kept.of('node:35')).toBeUndefined()
  expect(kept.of('node:36')).toBe('evidence 36')
  expect(kept.of('node:99')).toBe('evidence 99')
})

test('all other hosts are asked, and those count that know the job', async () => {
  const asked: string[] = []
  const of = (status: number, body: string) => ({ status, body: Buffer.from(body) })
  const links = [link('b', of(200, 'of b'), asked), link('c', of(404, 'none'), asked), link('d', { problem: 'no agent runs there' }, asked)]
  expect(await createHangEvidence(() => links).elsewhere('node a:29500')).toEqual(['of b'])
  expect(asked).toEqual(Array.from({ length: 3 }, () => '/api/v1/hangs/evidence?master=node%20a%3A29500'))
})
