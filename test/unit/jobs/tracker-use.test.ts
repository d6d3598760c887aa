// What a run uses and what it loses: GPU time, shares, energy, peaks, the work since its last saved state.
import { describe, expect, test } from 'vitest'
import { jobReport } from '../../../agent/jobs/report.ts'
import type { CardCheckpoint } from '../../../agent/model/ledger.ts'
import { A, B, GIB, GPU, T, useTracker } from './tracker-scene.ts'

const { tracker, event, second, rows, named, restarted } = useTracker()

describe('what a run uses', () => {
  test('time with work, without work, energy and peaks; split with whom it shares the GPU', () => {
    event(A, 'start', T)
    event(B, 'start', T)
    for (let s = 0; s <= 10; s++) second(T + s * 1_000, 0.75, 400, [[{ ...A, pid: '7' }, 10 * GIB]])
    for (let s = 11; s <= 20; s++)
      second(T + s * 1_000, 0.5, 200, [
        [{ ...A, pid: '7' }, 20 * GIB],
        [{ ...B, pid: '8' }, 2 * GIB],
      ])
    const [train, serve] = [named('train')[0], named('serve')[0]]
    // In the second in which it came, the other one counts for half.
    const idle = 10 * 0.25 + (2 / 3) * 0.5 + 9 * 0.25
    expect(train?.gpu_seconds).toEqual({ active: 10 * 0.75 + 10 * 0.25, idle: Math.round(idle * 1_000) / 1_000, lost: 0 })
    expect(train).toMatchObject({ energy_joules: Math.round(10 * 400 + (2 / 3) * 100 + 50 + 9 * 100), gpu_memory_peak_bytes: 20 * GIB })
    expect(train?.gpus).toMatchObject([{ ...GPU, share: 0.76, held_seconds: 20, memory_peak_bytes: 20 * GIB }])
    expect(serve?.gpus).toMatchObject([{ share: 0.51, held_seconds: 9.5 }])
  })

  test('several processes of one run hold its GPU once; a time without readings counts as it was before, a long one not at all', () => {
    event(A, 'start', T)
    for (const s of [0, 1, 2, 60, 61, 1_061, 1_062])
      second(T + s * 1_000, 1, 100, [
        [{ ...A, pid: '7' }, GIB],
        [{ ...A, pid: '9' }, GIB],
      ])
    expect(rows()[0]).toMatchObject({ gpu_seconds: { active: 62, idle: 0 }, gpu_memory_peak_bytes: 2 * GIB })
    expect(rows()[0]?.gpus).toMatchObject([{ share: 1, held_seconds: 62 }])
  })

  test('a MIG instance has no utilization of its own: the time is held, not worked; the energy is its share', () => {
    event(A, 'start', T)
    for (let s = 0; s <= 3; s++) second(T + s * 1_000, undefined, 100, [[{ ...A, pid: '7', gi: '3', ci: '0' }, GIB]])
    expect(rows()[0]?.gpus).toEqual([
      { ...GPU, gi: '3', ci: '0', share: 1, held_seconds: 3, energy_joules: 300, memory_byte_seconds: 3 * GIB, memory_peak_bytes: GIB },
    ])
  })

  test('a bad end loses what came after the last saved state; a good one nothing', () => {
    for (const subject of [A, B]) event(subject, 'start', T)
    for (let s = 0; s <= 10; s++)
      second(T + s * 1_000, 1, 100, [
        [{ ...A, pid: '7' }, GIB],
        [{ ...B, pid: '8' }, GIB],
      ])
    tracker().ingest({ type: 'log', t: T + 6_000, stream: 'container', origin: A, text: 'Saving model checkpoint to out/checkpoint-500' })
    event(A, 'die', T + 10_000, { exit_code: 1 })
    event(B, 'die', T + 10_000, { exit_code: 0 })
    expect(named('train')[0]?.gpu_seconds.lost).toBe(2)
    expect(named('train')[0]?.saved_at).toBe(T + 6_000)
    const [train] = named('train')
    const report = train === undefined ? '' : jobReport([train], 'gpu-01')
    expect(report).toContain('| Saved its state | last at 2027-01-15T08:00:06Z, 4 s before the end |')
    expect(report).toContain('| Lost: since the last saved state | 2 GPU seconds |')
    expect(report).toContain('| Would have been lost without the saved state | 5 GPU seconds |')
    expect(named('serve')[0]?.gpu_seconds.lost).toBe(0)
  })

  test('the first seconds of a process count for its owner, though it takes a moment to know him', () => {
    const upTo = (from: number, to: number): void => {
      for (let s = from; s <= to; s++) {
        tracker().tick(T + s * 1_000)
        second(T + s * 1_000, 1, 100, [[{ pid: '41' }, GIB]])
      }
    }
    upTo(1, 2)
    expect(tracker().strangers()).toEqual([41])
    const root = { pid: 40, start_ticks: 4, command: 'python3 train.py' }
    tracker().ingest({ type: 'process', t: T + 2_000, action: 'seen', pid: 41, root, ancestors: [40], user: 'ada' })
    upTo(3, 4)
    const used = tracker()
      .figures()
      .use.map(({ owner, use }) => ({ owner, heldMs: use.heldMs, joules: use.joules }))
    expect(used).toEqual([{ owner: { user: 'ada' }, heldMs: 3_000, joules: 300 }])
  })

  test('what nobody can say the owner of is counted all the same, as nobody', () => {
    for (let s = 0; s <= 8; s++) {
      tracker().tick(T + s * 1_000)
      second(T + s * 1_000, 1, 100, [[{ pid: '41' }, GIB]])
      tracker().strangers()
    }
    const used = tracker()
      .figures()
      .use.map(({ owner, use }) => ({ owner, heldMs: use.heldMs, joules: use.joules }))
    expect(used).toEqual([{ owner: {}, heldMs: 8_000, joules: 800 }])
  })
})

describe('a run and the ledger say the same', () => {
  /** What the ledger counted of a job since it was last asked. */
  const taken = new Map<string, { held: number; active: number; joules: number }>()
  const take = (): readonly CardCheckpoint[] => {
    const page = tracker().ledger.take()
    for (const { owner, use } of page.rows) {
      const sums = taken.get(owner.job ?? '') ?? { held: 0, active: 0, joules: 0 }
      taken.set(owner.job ?? '', {
        held: sums.held + use.heldMs / 1_000,
        active: sums.active + use.activeMs / 1_000,
        joules: sums.joules + use.joules,
      })
    }
    return page.checkpoints
  }
  const agree = (name: string): void => {
    const [run] = named(name)
    const sums = taken.get(name)
    expect(run?.gpus[0]?.held_seconds).toBeGreaterThan(0)
    expect(run?.gpus[0]?.held_seconds).toBeCloseTo(sums?.held ?? 0, 2)
    expect(run?.gpu_seconds.active).toBeCloseTo(sums?.active ?? 0, 2)
    expect(Math.abs((run?.energy_joules ?? 0) - (sums?.joules ?? 0))).toBeLessThan(1)
  }
  const both = (from: number, to: number): void => {
    for (let s = from; s <= to; s++)
      second(T + s * 1_000, 0.6, 300, [
        [{ ...A, pid: '7' }, GIB],
        [{ ...B, pid: '8' }, GIB],
      ])
  }
  const alone = (from: number, to: number): void => {
    for (let s = from; s <= to; s++) second(T + s * 1_000, 0.3, 200, [[{ ...A, pid: '7' }, GIB]])
  }

  test('of one that came and went, and of its last part, counted after its end', () => {
    taken.clear()
    event(A, 'start', T)
    event(B, 'start', T)
    alone(0, 3)
    both(4, 8)
    event(B, 'die', T + 8_600, { exit_code: 0 })
    const before = named('serve')[0]?.gpus[0]?.held_seconds ?? 0
    alone(9, 12)
    take()
    for (const name of ['train', 'serve']) agree(name)
    expect(named('serve')[0]?.gpus[0]?.held_seconds).toBe(before + 0.5)
    // It is stored once more, and in the metrics' totals before and after its end is settled.
    expect(
      tracker()
        .changed(true)
        .map(({ row }) => row.job),
    ).toContain('serve')
    const total = () => tracker().figures().totals.get('serve')
    const counted = total()?.gpuSeconds
    expect(counted?.active).toBeCloseTo(taken.get('serve')?.active ?? 0, 2)
    tracker().tick(T + 30_000)
    expect(total()?.gpuSeconds).toEqual(counted)
  })

  test('after a restart, though the ledger was written earlier than the run', () => {
    taken.clear()
    event(A, 'start', T)
    event(B, 'start', T)
    both(0, 10)
    const checkpoints = take()
    both(11, 13)
    restarted(checkpoints)
    both(17, 20)
    take()
    for (const name of ['train', 'serve']) {
      expect(named(name)[0]?.gpus[0]?.held_seconds).toBe(20)
      agree(name)
    }
  })
})
