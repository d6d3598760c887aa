// What looks like a hang and is none: a save, a GPU that computes, a straggler, dumps alone.
import { describe, expect, test } from 'vitest'
import { dumps, judged, stackOf, standing, steps, waiting, WAITS, WORLD, type Files, type Step } from './job-folder.ts'

describe('what is no hang', () => {
  const gpus = (busy: readonly [number, number, number][]): Files => ({
    'gpu.json': JSON.stringify(
      Object.fromEntries(busy.map(([sm_util, mem_util, power_w], rank) => [rank, { sm_util, mem_util, power_w, power_limit_w: 700 }])),
    ),
  })
  const spin = [100, 0, 120] as [number, number, number]

  test('a rank that saves while the others wait', () => {
    const saves = stackOf(['/venv/lib/python3.12/site-packages/torch/serialization.py', 967, 'save'], ['/job/state.py', 12, 'keep'])
    expect(judged({ ...dumps(WORLD, [steps(7), waiting, waiting, waiting]), ...standing([saves, WAITS, WAITS, WAITS]) })).toMatchObject({
      verdict: 'slow_phase',
      culprits: [0],
    })
  })

  test('a GPU computes: the others wait for it for a moment', () => {
    expect(judged({ ...dumps(WORLD, [steps(7), waiting, waiting, waiting]), ...gpus([[92, 40, 500], spin, spin, spin]) })).toMatchObject({
      verdict: 'healthy',
      culprits: [],
    })
  })

  test.each<[string, readonly [number, number, number][], Files, object]>([
    ['one of four may be slow, or only the last to join', [spin, spin, [92, 40, 500], spin], {}, { verdict: 'slow_phase', cause: 'straggler', culprits: [2] }],
    ['rank 0 is none: it evaluates and logs for all', [[92, 40, 500], spin, spin, spin], {}, { verdict: 'healthy', culprits: [] }],
    ['two of four are none', [spin, spin, [92, 40, 500], [92, 40, 500]], {}, { verdict: 'healthy', culprits: [] }],
    ['one of three is too few to judge', [spin, [92, 40, 500], spin], {}, { verdict: 'healthy', culprits: [] }],
    [
      'one that saves is none',
      [spin, spin, [92, 40, 500], spin],
      standing([WAITS, WAITS, stackOf(['/venv/lib/python3.12/site-packages/torch/serialization.py', 967, 'save'], ['/job/state.py', 12, 'keep']), WAITS]),
      { verdict: 'healthy', culprits: [] },
    ],
  ])('the only GPU that computes: %s', (_, figures, files, said) => {
    expect(judged({ ...gpus(figures), ...files })).toMatchObject(said)
  })

  describe('all GPUs wait in a kernel, seen once', () => {
    const allSpin = gpus([spin, spin, spin, spin])
    const stacks: Files = Object.fromEntries([0, 1, 2, 3].map((rank) => [`stacks/rank_${rank}.txt`, WAITS]))
    const LOOK_AGAIN: unknown = expect.stringContaining('look again after 10 s')
    test('without anything that says in what: a likely hang, since whoever asks sees no progress', () => {
      expect(judged({ ...allSpin, ...stacks })).toMatchObject({ verdict: 'hang', confidence: 'likely', culprits: [] })
    })
    test('all of one group wait for its end: a hang of its connection', () => {
      expect(judged({ ...dumps(WORLD, [waiting, waiting, waiting, waiting]), ...allSpin })).toMatchObject({ verdict: 'hang', cause: 'transport', culprits: [] })
    })
    test('two groups wait for their end at once: no connection explains both', () => {
      const pairs = { '1': { desc: 'left', ranks: [0, 1] }, '2': { desc: 'right', ranks: [2, 3] } }
      const of = (group: string): Step[] => waiting.map((step) => ({ ...step, group }))
      const { verdict, evidence } = judged({ ...dumps(pairs, [of('1'), of('1'), of('2'), of('2')]), ...allSpin })
      expect(verdict).toBe('unknown')
      expect(evidence.at(-1)).toEqual(LOOK_AGAIN)
    })
    test('two looks without a launch between them: a hang', () => {
      const count = { Broadcast: 0, Reduce: 0, AllGather: 0, ReduceScatter: 0, AllReduce: 9 }
      const ranks = [0, 1, 2, 3].map((rank) => ({ rank, host: '10.0.0.1', pid: 100 + rank, collective_counts: count }))
      const poll = (timestamp: string): string =>
        JSON.stringify({ nccl_version: '2.29.7', timestamp, communicators: [{ hash: '0x1', secondary_hash: '0x2:0x3', size: 4, ranks, missing_ranks: [] }] })
      const polls = { 'ras/poll_0.json': poll('2026-11-27 10:00:00'), 'ras/poll_1.json': poll('2026-11-27 10:01:00') }
      expect(judged({ ...allSpin, ...stacks, ...polls })).toMatchObject({ verdict: 'hang', culprits: [] })
    })
  })

  test('dumps alone look the same in a running job, so the verdict is unknown', () => {
    expect(judged(dumps(WORLD, [steps(7), waiting, waiting, waiting])).verdict).toBe('unknown')
  })

  test('a rank that is late in each step is a straggler, whatever its clock says', () => {
    const run = (delay: number, clock: number): Step[] =>
      Array.from({ length: 60 }, (_, i): Step => ({ at: Math.floor(i / 3) + (i % 3) * 0.1 * (1 + delay) + 0.2 * delay + clock, size: (i % 3) + 1 }))
    const moving = gpus([
      [80, 40, 500],
      [80, 40, 500],
      [80, 40, 500],
      [80, 40, 500],
    ])
    const ranks = (late: number): Files => ({ ...dumps(WORLD, [run(0, 0), run(0, 0), run(late, 0), run(0, 0)]), ...moving })
    expect(judged(ranks(1))).toMatchObject({ verdict: 'straggler', culprits: [2] })
    expect(judged(ranks(0.02))).toMatchObject({ verdict: 'healthy', culprits: [] })
  })

  test('a straggler in a pair does not make its peer one, which waits for it and goes on with ranks of another group', () => {
    const groups = { '0': { desc: 'tp', ranks: [0, 1, 2, 3] }, '1': { desc: 'dp', ranks: [0, 4] }, '2': { desc: 'tp', ranks: [4, 5, 6, 7] } }
    const moving = gpus(Array.from({ length: 8 }, () => [80, 40, 500]))
    const run = (rank: number): Step[] =>
      Array.from({ length: 20 }).flatMap((_, begin): Step[] => [
        { group: rank < 4 ? '0' : '2', at: begin + (rank === 4 ? 0.3 : 0), end: begin + (rank < 4 ? 0.01 : 0.31) },
        ...(rank % 4 === 0 ? [{ group: '1', at: begin + (rank === 4 ? 0.5 : 0.2), end: begin + 0.6 }] : []),
      ])
    expect(judged({ ...dumps(groups, [0, 1, 2, 3, 4, 5, 6, 7].map(run)), ...moving })).toMatchObject({ verdict: 'straggler', culprits: [4] })
  })

  test('of two that are slow the second is named, too, though its delays hide behind those of the first', () => {
    const six = { '0': { desc: 'default_pg', ranks: [0, 1, 2, 3, 4, 5] } }
    const run = (delay: number): Step[] =>
      Array.from({ length: 60 }, (_, i): Step => ({ at: Math.floor(i / 3) + (i % 3) * 0.1 * (1 + delay), size: (i % 3) + 1 }))
    const ranks = (first: number, second: number): Files => ({
      ...dumps(six, [run(0), run(0), run(first), run(0), run(second), run(0)]),
      ...gpus(Array.from({ length: 6 }, (): [number, number, number] => [80, 40, 500])),
    })
    expect(judged(ranks(0.35, 0.2))).toMatchObject({ verdict: 'straggler', culprits: [2, 4] })
    expect(judged(ranks(0.35, 0.02))).toMatchObject({ verdict: 'straggler', culprits: [2] })
    expect(judged(ranks(0.1, 0.08))).toMatchObject({ verdict: 'healthy', culprits: [] })
  })
})
