// The scenario job-hang: what it tells of its ranks is what the judge says of such processes.
import { expect, test } from 'vitest'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { createEvidence, rankOf, type Frame, type Op } from '../../../agent/hang/model.ts'
import { replyOf } from '../../../agent/hang/reply.ts'
import type { HangEvent } from '../../../agent/model/event.ts'
import { simulate, valuesBy } from './simulate.ts'

const TORCH = '/usr/lib/python3/dist-packages/torch'
const WAITS: readonly Frame[] = [
  { file: `${TORCH}/distributed/distributed_c10d.py`, line: 3000, function: 'all_reduce' },
  { file: '/app/parallel.py', line: 131, function: 'sync' },
  { file: '/app/train.py', line: 204, function: 'train_step' },
]
const LOADS: readonly Frame[] = [
  { file: '/usr/lib/python3.12/queue.py', line: 171, function: 'get' },
  { file: `${TORCH}/utils/data/dataloader.py`, line: 1300, function: '_try_get_data' },
  { file: '/app/data.py', line: 57, function: 'next_batch' },
  { file: '/app/train.py', line: 188, function: 'main' },
]
const GROUPS = [
  ['1', 'mesh_tp', [0, 1]],
  ['2', 'mesh_tp', [2, 3]],
  ['3', 'mesh_dp', [0, 2]],
  ['4', 'mesh_dp', [1, 3]],
] as const
/** Of each rank its last collectives, newest last: group, number, and whether it waits in it. */
const ISSUED: readonly (readonly (readonly [group: string, seq: number, waits?: true])[])[] = [
  [
    ['1', 1204],
    ['1', 1205, true],
  ],
  [
    ['1', 1204],
    ['4', 610, true],
  ],
  [
    ['2', 1203],
    ['2', 1204, true],
  ],
  [
    ['2', 1203],
    ['4', 609],
  ],
]

function answered(event: HangEvent) {
  const evidence = createEvidence()
  for (const [name, desc, members] of GROUPS) evidence.groups.set(name, { key: name, name, desc, members })
  const since = event.since / 1000
  for (const [rank, calls] of ISSUED.entries()) {
    const me = rankOf(evidence, rank)
    const ops = calls.map(([group, seq, waits], record): Op => ({
      record,
      group,
      seq,
      name: group === '4' ? 'reduce_scatter' : 'all_reduce',
      p2p: false,
      inputs: '[4096, 8192]',
      elements: { inputs: '33554432', outputs: '33554432' },
      dtypes: 'BFloat16',
      state: waits === true ? 'started' : 'done',
      issued: waits === true ? (event.ranks.find((row) => row.rank === rank)?.since_ms ?? 0) / 1000 : since - 2,
      ...(waits === true ? {} : { completed: since - 1 }),
      frames: WAITS,
    }))
    const pid = event.ranks.find((row) => row.rank === rank)?.pid
    Object.assign(me, { ...(pid === undefined ? {} : { pid }), gpu: rank, container: 'pretrain-trainer-1', alive: true, still: true, ops })
    for (const { group, seq } of ops) me.issued.set(group, seq)
    me.threads.push({ id: '1', name: 'MainThread', frames: rank === 3 ? LOADS : WAITS })
  }
  return replyOf(evidence, judge(evidence))
}

const story = simulate('job-hang', 1_560)
const hangs = story.flatMap(({ second, events }) => events.flatMap((event) => (event.type === 'hang' ? [{ second, event }] : [])))

test('rank, cause, matrix of collectives, sentence and remedies are those of the judge', () => {
  const [first] = hangs
  if (first === undefined) throw new Error('expected a hang')
  expect(first.second).toBe(100)
  const { text, cause, confidence, culprits, waits_in: waitsIn, stands_at: stands, call_sites: sites, ranks, remedies, evidence } = answered(first.event)
  expect(first.event).toMatchObject({ text, cause, confidence, culprits, waits_in: waitsIn, stands_at: stands, call_sites: sites, ranks, remedies, evidence })
})

test('looked at again each minute, and over once the job is restarted', () => {
  expect(hangs.slice(0, 3).map(({ second, event }) => [second, event.state])).toEqual([
    [100, 'hangs'],
    [160, 'hangs'],
    [220, 'hangs'],
  ])
  expect(hangs.at(-1)).toMatchObject({ second: 1_500, event: { state: 'over' } })
})

test('meanwhile three GPUs are busy at little power, the fourth idles, and no step is logged', () => {
  const reported = story.find(({ second }) => second === 200)
  if (reported === undefined) throw new Error('the story has no second 200')
  const [busy, watts] = ['gpu_utilization_ratio', 'gpu_power_watts'].map((metric) => valuesBy(reported, metric, 'gpu'))
  expect(['0', '1', '2', '3'].map((gpu) => busy?.get(gpu))).toEqual([1, 1, 1, 0])
  for (const gpu of ['0', '1', '2']) expect(watts?.get(gpu)).toBeLessThan(200)
  const steps = story.filter(({ events }) =>
    events.some((event) => event.type === 'log' && event.text.startsWith('step ') && event.origin.container === 'pretrain-trainer-1'),
  )
  expect(steps.filter(({ second }) => second > 60 && second < 1_500)).toEqual([])
  expect(steps.filter(({ second }) => second > 1_500).length).toBeGreaterThan(0)
})
