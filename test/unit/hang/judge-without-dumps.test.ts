// Who holds up a job of which no recorder tells: from the GPUs, NCCL's counts and what a comparison of the calls says.
import { describe, expect, test } from 'vitest'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { createEvidence, rankOf } from '../../../agent/hang/model.ts'
import { headline } from '../../../agent/hang/text.ts'
import { judged, standing, WAITS, type Files } from './job-folder.ts'

describe('without dumps', () => {
  const all = standing([WAITS, WAITS, WAITS, WAITS])
  const gpus = (memory: readonly number[], watts: readonly number[]): Files => ({
    'gpu.json': JSON.stringify(
      Object.fromEntries(memory.map((mem_util, rank) => [rank, { sm_util: 100, mem_util, power_w: watts[rank] ?? 0, power_limit_w: 700 }])),
    ),
  })

  test('a GPU that alone reads memory runs a kernel of its own; where two do, or it draws less than most, nobody is named', () => {
    const watts = [128, 121, 140, 131]
    expect(judged({ ...all, ...gpus([0, 0, 1, 0], watts) })).toMatchObject({ verdict: 'hang', cause: 'kernel', culprits: [2], confidence: 'likely' })
    expect(judged({ ...all, ...gpus([0, 1, 1, 0], watts) })).toMatchObject({ verdict: 'hang', cause: 'transport', culprits: [] })
    expect(judged({ ...all, ...gpus([0, 1, 0, 0], watts) })).toMatchObject({ verdict: 'hang', cause: 'transport', culprits: [] })
  })

  /** Two answers 30 s apart: of each communicator its ranks and what each has launched. */
  const launched = (comms: readonly (readonly [ranks: readonly number[], counts: readonly number[]])[]): Files =>
    Object.fromEntries(
      [0, 1].map((poll) => [
        `ras/poll_${poll}.json`,
        JSON.stringify({
          nccl_version: '2.30.7',
          timestamp: `2026-01-02 03:04:${poll * 30 + 10}`,
          communicators: comms.map(([ranks, counts], i) => ({
            hash: `0x${i}`,
            size: ranks.length,
            ranks: ranks.map((rank, at) => ({ rank: at, host: '10.0.0.1', pid: 100 + rank, collective_counts: { AllReduce: counts[at] } })),
          })),
        }),
      ]),
    )
  const hosts: Files = { 'hosts.json': JSON.stringify({ hosts: { a: [0, 1, 2, 3].map((rank) => ({ rank, pid: 100 + rank, gpu: rank, alive: true })) } }) }

  test.each<[string, readonly (readonly [readonly number[], readonly number[]])[], string, number[]]>([
    [
      'fewer than all others',
      [
        [
          [0, 1, 2, 3],
          [9, 9, 8, 9],
        ],
      ],
      'missing',
      [2],
    ],
    [
      'more than all others',
      [
        [
          [0, 1, 2, 3],
          [9, 9, 10, 9],
        ],
      ],
      'order',
      [2],
    ],
    [
      'more than its one peer: the other groups say which is usual',
      [
        [
          [0, 1],
          [9, 9],
        ],
        [
          [2, 3],
          [10, 9],
        ],
      ],
      'order',
      [2],
    ],
    [
      'fewer than its one peer: the same',
      [
        [
          [0, 1],
          [9, 9],
        ],
        [
          [2, 3],
          [8, 9],
        ],
      ],
      'missing',
      [2],
    ],
    [
      'another number than its peer, and no other group knows either',
      [
        [
          [0, 1],
          [7, 7],
        ],
        [
          [2, 3],
          [8, 9],
        ],
      ],
      'transport',
      [],
    ],
  ])('a rank that launched %s', (_, comms, cause, culprits) => {
    expect(judged({ ...all, ...hosts, ...launched(comms) })).toMatchObject({ verdict: 'hang', cause, culprits })
  })

  test('what compares the calls names two ranks at a time: the one that is in every pair is wrong', () => {
    const says = (me: number, other: number): string =>
      `[rank${me}]: RuntimeError: Detected mismatch between collectives on ranks. Rank ${me} is running collective: CollectiveFingerPrint(SequenceNumber=4, OpType=ALLREDUCE), but Rank ${other} is running collective: CollectiveFingerPrint(SequenceNumber=4, OpType=BROADCAST).\n`
    expect(judged({ ...all, 'job.log': says(0, 3) + says(1, 3) + says(3, 0) })).toMatchObject({ verdict: 'hang', cause: 'mismatch', culprits: [3] })
    expect(judged({ ...all, 'job.log': says(0, 3) })).toMatchObject({ verdict: 'hang', cause: 'mismatch', culprits: [] })
  })
})

describe('one process, looked at once', () => {
  const looked = (process: { state: string; cpuShare: number }, still: boolean): string => {
    const evidence = createEvidence()
    const me = rankOf(evidence, 0)
    me.pid = 4242
    me.process = process
    me.still = still
    me.threads.push({ id: '1', frames: [{ file: '/job/tokens.py', line: 31, function: 'merge' }] })
    return headline(evidence, judge(evidence))
  }
  test('that computes at one line may go on for long or for ever: only what it does and where is said', () => {
    expect(looked({ state: 'R', cpuShare: 1 }, true)).toBe('Process 4242 computes on the CPU, at /job/tokens.py:31 in merge.')
  })
  test('that was at two lines runs', () => {
    expect(looked({ state: 'R', cpuShare: 1 }, false)).toBe('Process 4242 runs, at /job/tokens.py:31 in merge.')
  })
})
