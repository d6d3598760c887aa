// Who holds up a job, from the evidence of invented ones.
import { describe, expect, test } from 'vitest'
import { hangFacts } from '../../../agent/hang/facts.ts'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { dumpOf, dumps, evidenceOf, judged, stackOf, standing, steps, waiting, WAITS, WORLD, type Groups, type Step } from './job-folder.ts'

/** Two tensor-parallel groups, two data-parallel ones. */
const GRID: Groups = {
  ...WORLD,
  '1': { desc: 'tp', ranks: [0, 1] },
  '2': { desc: 'tp', ranks: [2, 3] },
  '3': { desc: 'dp', ranks: [0, 2] },
  '4': { desc: 'dp', ranks: [1, 3] },
}

describe('who holds up a job', () => {
  test('the rank that has not issued what all others wait in, with its line and what it does', () => {
    const lock = stackOf(['/usr/lib/python3.12/threading.py', 359, 'wait'], ['/job/cache.py', 71, 'lookup'], ['/job/loop.py', 5, '<module>'])
    const evidence = evidenceOf({ ...dumps(WORLD, [waiting, waiting, steps(7), waiting]), ...standing([WAITS, WAITS, lock, WAITS]) })
    const answer = judge(evidence)
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [2], root: { group: '0', seq: 9, op: 'all_reduce' }, confidence: 'computed' })
    expect(answer.stands.get(2)).toEqual({ file: '/job/cache.py', line: 71, function: 'lookup' })
    expect(answer.doing.get(2)).toBe('lock')
    expect(hangFacts(evidence, answer)).toMatchObject({
      hang_cause: 'missing',
      culprit_ranks: ['2'],
      waits_in: 'all_reduce 9 of group default_pg',
      stands_at: ['rank 2: /job/cache.py:71 lookup'],
      since_ms: 1_790_000_008_000,
    })
  })

  test('all ranks that stand in the same function of their own, also one of which no dump is there', () => {
    const reads = (line: number): string => stackOf(['/job/shards.py', line, 'load'], ['/job/loop.py', 5, '<module>'])
    const all: Groups = { '0': { desc: 'default_pg', ranks: [0, 1, 2, 3, 4, 5] } }
    const files = {
      ...Object.fromEntries([0, 1, 2, 3, 4].map((rank) => [`dumps/nccl_trace_rank_${rank}`, dumpOf(all, rank === 4 ? steps(7) : waiting)])),
      ...standing([WAITS, WAITS, WAITS, WAITS, reads(12), reads(30)]),
    }
    expect(judged(files)).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [4, 5] })
    // One that waits for the others is none of them.
    expect(judged({ ...files, ...standing([WAITS, WAITS, WAITS, WAITS, reads(12), WAITS]) })).toMatchObject({ culprits: [4] })
  })

  test('follows the chain over groups to the one that waits for nobody', () => {
    const before = [{ group: '1' }, { group: '3' }] as const
    const of = (tp: string, dp: string, last: 'tp' | 'dp' | 'none'): Step[] => [
      ...before.map(({ group }) => ({ group: group === '1' ? tp : dp })),
      ...(last === 'none' ? [] : [{ group: tp, state: last === 'tp' ? ('scheduled' as const) : ('completed' as const) }]),
      ...(last === 'dp' ? [{ group: dp, state: 'scheduled' as const }] : []),
    ]
    const read = stackOf(['/job/shards.py', 12, 'load'], ['/job/loop.py', 5, '<module>'])
    // Rank 3 reads a file; 2 waits for it in tensor parallel, 0 for 2 in data parallel, 1 for 3.
    const answer = judged({
      ...dumps(GRID, [of('1', '3', 'dp'), of('1', '4', 'dp'), of('2', '3', 'tp'), of('2', '4', 'none')]),
      ...standing([WAITS, WAITS, WAITS, read]),
    })
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [3] })
  })

  test.each([
    ['size', { size: 96, line: 44 }],
    ['type', { dtype: 'BFloat16', line: 44 }],
    ['operation', { op: 'broadcast', line: 44 }],
  ])('a rank with another %s at the same place, with both call sites', (_, other) => {
    const answer = judged({
      ...dumps(WORLD, [waiting, steps(8, { state: 'scheduled', ...other }), waiting, waiting]),
      ...standing([WAITS, WAITS, WAITS, WAITS]),
    })
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'mismatch', culprits: [1] })
    expect(answer.callSites.map(({ ranks, at }) => [ranks, at?.line])).toEqual([
      [[1], 44],
      [[0, 2, 3], 10],
    ])
  })

  test('two sides of equal size: the one that leaves what it always did', () => {
    const loop = Array.from({ length: 12 }, (_, i): Step => ({ size: i % 2 === 0 ? 64 : 1, at: i }))
    const goesOn = [...loop, { size: 64, state: 'scheduled' as const, at: 12 }]
    const leaves = [...loop, { op: 'barrier', size: 1, state: 'scheduled' as const, at: 12 }]
    expect(judged({ ...dumps(WORLD, [goesOn, leaves, leaves, goesOn]), ...standing([WAITS, WAITS, WAITS, WAITS]) })).toMatchObject({
      cause: 'mismatch',
      culprits: [1, 2],
    })
  })

  test('two groups in another order: no rank is missing, and the ranks that swapped them are found', () => {
    const loop = (tp: string, dp: string): Step[] => Array.from({ length: 10 }, (_, i): Step => ({ group: i % 2 === 0 ? tp : dp, at: i }))
    const asAll = (tp: string, dp: string, first: 'scheduled' | 'completed'): Step[] => [
      ...loop(tp, dp),
      { group: tp, state: first, at: 10 },
      { group: dp, state: 'scheduled', at: 10 },
    ]
    const swapped = (tp: string, dp: string): Step[] => [...loop(tp, dp), { group: dp, state: 'scheduled', at: 10 }, { group: tp, state: 'scheduled', at: 10 }]
    const answer = judged({
      ...dumps(GRID, [swapped('1', '3'), asAll('1', '4', 'scheduled'), asAll('2', '3', 'completed'), asAll('2', '4', 'completed')]),
      ...standing([WAITS, WAITS, WAITS, WAITS]),
    })
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'order', culprits: [0] })
  })

  test('with timing on, the GPU on which the collective has not started runs a kernel that does not end', () => {
    const started = steps(8, { state: 'started' })
    expect(judged({ ...dumps(WORLD, [started, started, started, waiting]), ...standing([WAITS, WAITS, WAITS, WAITS]) })).toMatchObject({
      cause: 'kernel',
      culprits: [3],
    })
  })

  test('all joined and nobody finishes: the transport, and nobody is blamed', () => {
    expect(judged({ ...dumps(WORLD, [waiting, waiting, waiting, waiting]), ...standing([WAITS, WAITS, WAITS, WAITS]) })).toMatchObject({
      verdict: 'hang',
      cause: 'transport',
      culprits: [],
      root: { seq: 9 },
    })
  })

  test('an ended process is the cause, those that the launcher ended are not', () => {
    const hosts = {
      hosts: {
        a: [0, 1, 2, 3].map((rank) => ({ rank, pid: 10 + rank, gpu: rank, alive: rank < 2, exit: rank === 2 ? 'SIGKILL' : rank === 3 ? 'SIGTERM' : null })),
      },
    }
    expect(judged({ 'hosts.json': JSON.stringify(hosts), ...standing([WAITS, WAITS]) })).toMatchObject({ verdict: 'hang', cause: 'dead', culprits: [2] })
  })

  test('without a recorder: the one that stands elsewhere while the others wait', () => {
    const pdb = stackOf(['/usr/lib/python3.12/pdb.py', 468, 'interaction'], ['/job/step.py', 33, 'check'])
    const answer = judged(standing([WAITS, pdb, WAITS, WAITS]))
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [1] })
    expect(answer.doing.get(1)).toBe('input')
  })
})

describe('where some dumps are lost', () => {
  test('two ranks read data while the others wait for them: both are named, also the one that left no dump', () => {
    const reads = stackOf(['/usr/lib/python3.12/queue.py', 180, 'get'], ['/venv/lib/python3.12/site-packages/torch/utils/data/dataloader.py', 733, '__next__'])
    const inGroup = (group: string, count: number, last: Step = {}): Step[] => steps(count, last).map((step) => ({ ...step, group }))
    const [left, right] = [inGroup('1', 8, { state: 'scheduled' }), inGroup('2', 8, { state: 'scheduled' })]
    const found = judged({
      nccl_trace_rank_0: dumpOf(GRID, left),
      nccl_trace_rank_1: dumpOf(GRID, inGroup('1', 7)),
      nccl_trace_rank_2: dumpOf(GRID, right),
      ...standing([WAITS, reads, WAITS, reads]),
    })
    expect(found).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [1, 3] })
  })

  test('the wait that began first counts, also where the times of logs have no year', () => {
    // Rank 2 is missing in both groups. Its peer in the group of two began to wait first; rank 1 left a log only.
    const groups: Groups = { ...WORLD, '1': { desc: 'tp', ranks: [2, 3] } }
    const early: Step = { group: '1', at: 5, state: 'scheduled' }
    const end = new Date((1_790_000_008 + 600) * 1000)
    const stamp = `${end.getUTCMonth() + 1}${String(end.getUTCDate()).padStart(2, '0')} ${end.toISOString().slice(11, 19)}.000000000`
    const work = 'WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600000 milliseconds before timing out.'
    const log = (rank: number): string =>
      `[rank${rank}]:[E${stamp} ProcessGroupNCCL.cpp:697] [PG GUID 0(default_pg) Rank ${rank}] Watchdog caught collective operation timeout: ${work}\n`
    const answer = judged({
      'dumps/nccl_trace_rank_0': dumpOf(groups, waiting),
      'dumps/nccl_trace_rank_2': dumpOf(groups, steps(4)),
      'dumps/nccl_trace_rank_3': dumpOf(groups, [...steps(4), early]),
      'logs/rank_0.log': log(0),
      'logs/rank_1.log': log(1),
      ...standing([WAITS, WAITS, stackOf(['/job/shards.py', 12, 'load']), WAITS]),
    })
    expect(answer).toMatchObject({ verdict: 'hang', culprits: [2], root: { desc: 'tp', op: 'all_reduce' } })
  })
})

describe('where the recorder has lost its oldest entries', () => {
  test('the operation that the watchdog names counts, if it is older than all that the recorder kept', () => {
    const work = (size: number): string => `WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=${size}, NumelOut=${size}, Timeout(ms)=600000)`
    const log = (rank: number): string =>
      `[rank${rank}]:[E1104 09:30:01.250000000 ProcessGroupNCCL.cpp:697] [PG GUID 0(default_pg) Rank ${rank}] Watchdog caught collective operation timeout: ${work(rank === 1 ? 96 : 64)} ran for 600000 milliseconds before timing out.\n`
    const dump = dumpOf(WORLD, [...steps(2), ...Array.from({ length: 5 }, (_, i): Step => ({ at: 10 + i, state: 'scheduled' }))], 4)
    const answer = judged(
      Object.fromEntries(
        [0, 1, 2, 3].flatMap((rank) => [
          [`nccl_trace_rank_${rank}`, dump],
          [`rank_${rank}.log`, log(rank)],
        ]),
      ),
    )
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'mismatch', culprits: [1], root: { seq: 3, op: 'all_reduce' } })
  })
})
