// Whose the first seconds after a restart are, and that a process which ended before it was identified holds nothing up.
import { describe, expect, test } from 'vitest'
import { gpuGpmEngineActiveRatio } from '../../../agent/metrics/gpm.ts'
import type { ProcessEvent } from '../../../agent/model/event.ts'
import { A, GIB, GPU, reading, T, useTracker } from './tracker-scene.ts'

const { tracker, event, scrape, second, restarted } = useTracker()

const seen = (t: number, pid: number, command: string): ProcessEvent => ({
  type: 'process',
  t,
  action: 'seen',
  pid,
  root: { pid, start_ticks: 1_000, started_at: T - 60_000, command },
  ancestors: [],
  user: 'ada',
})
const look = (s: number, ...pids: readonly string[]): void =>
  second(
    T + s * 1_000,
    0.5,
    300,
    pids.map((pid) => [{ pid }, GIB]),
  )
const held = () =>
  tracker()
    .ledger.page()
    .rows.filter(({ owner }) => owner.unheld !== true)
    .map(({ owner, use }) => [owner.job ?? '', use.heldMs])

describe('a look', () => {
  test('waits for the owners of its processes, no longer than until all are known or gone', () => {
    look(0, '7', '8')
    look(1, '7', '8')
    expect(held()).toEqual([])
    expect(tracker().strangers()).toEqual([7, 8])
    tracker().ingest(seen(T + 1_010, 7, 'train.py'))
    expect(held()).toEqual([])
    tracker().unidentified(8)
    expect(held()).toEqual([
      ['train.py', 1_000],
      ['', 1_000],
    ])
  })
})

describe('after a restart', () => {
  const before = () => {
    look(0, '7')
    tracker().strangers()
    tracker().ingest(seen(T + 10, 7, 'train.py'))
    look(1, '7')
    look(2, '7')
    const { checkpoints } = tracker().ledger.take()
    restarted(checkpoints)
  }
  test('a process that ended before it was identified again is still its run’s', () => {
    before()
    look(4, '7')
    expect(tracker().strangers()).toEqual([7])
    tracker().unidentified(7)
    expect(held()).toEqual([['train.py', 2_000]])
  })

  test('one that can be identified is whose it is now: numbers are given again', () => {
    before()
    look(4, '7')
    tracker().strangers()
    tracker().ingest({ ...seen(T + 4_010, 7, 'other.py'), root: { pid: 7, start_ticks: 2_000, started_at: T + 3_000, command: 'other.py' } })
    expect(held()).toEqual([
      ['other.py', 1_000],
      ['train.py', 1_000],
    ])
  })

  test('it is as busy as halfway between the looks before and after it', () => {
    before()
    second(T + 6_000, 1, 300, [[{ pid: '7' }, GIB]])
    tracker().strangers()
    tracker().ingest(seen(T + 6_010, 7, 'train.py'))
    const [row] = tracker().ledger.page().rows
    expect([row?.use.heldMs, row?.use.activeMs]).toEqual([4_000, 3_000])
  })

  test('how busy a MIG instance is holds on for a minute until it is read again', () => {
    const HELD = [[{ ...A, pid: '7', gi: '1', ci: '0' }, GIB]] as const
    const lookAt = (s: number): void => second(T + s * 1_000, undefined, 300, HELD)
    event(A, 'start', T)
    scrape('gpu', '0/slow', T, [reading(gpuGpmEngineActiveRatio, { ...GPU, gi: '1' }, 0.6)])
    for (let s = 0; s <= 10; s++) lookAt(s)
    const { checkpoints } = tracker().ledger.take()
    restarted(checkpoints)
    for (let s = 12; s <= 66; s++) lookAt(s)
    const [row] = tracker().ledger.page().rows
    // Read at 0 s, and older than a minute from 61 s on.
    expect(row?.use.heldMs).toBe(56_000)
    expect(row?.use.activeMs).toBeCloseTo(0.6 * 50_000)
  })
})
