// The pace of a host where there is nothing to see: slower after a quiet minute, and at once back when something happens.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPace } from '../../../agent/lib/pace.ts'
import { createScheduler } from '../../../agent/lib/scheduler.ts'

const START = 1_763_596_800_000
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

describe('pace', () => {
  test('slows down after a quiet minute, no sooner', () => {
    const pace = createPace(() => false)
    pace.look(START)
    pace.look(START + 59_000)
    expect([pace.isSlow(), pace.periodOf(1_000), pace.ttlOf(3_000)]).toEqual([false, 1_000, 3_000])
    pace.look(START + 60_000)
    expect(pace.isSlow()).toBe(true)
  })
  test('tasks that are slow already keep their period, and so do those that say so', () => {
    const pace = createPace(() => false)
    pace.look(START)
    pace.look(START + 60_000)
    expect([500, 1_000, 2_000, 4_000, 5_000, 10_000, 30_000, 60_000].map((ms) => pace.periodOf(ms))).toEqual([
      4_000, 4_000, 4_000, 4_000, 8_000, 12_000, 30_000, 60_000,
    ])
    expect(pace.periodOf(200, 200)).toBe(200)
  })
  test('what is read at the slowest period holds until the next reading', () => {
    const pace = createPace(() => false)
    pace.look(START)
    pace.look(START + 60_000)
    expect(pace.ttlOf(3_000)).toBeGreaterThan(pace.periodOf(10_000))
    expect(pace.ttlOf(600_000)).toBe(600_000)
  })
  test('anything that happens brings the full pace back for a minute', () => {
    const pace = createPace(() => false)
    const changes: boolean[] = []
    pace.watch(() => changes.push(pace.isSlow()))
    pace.look(START)
    pace.look(START + 60_000)
    pace.wake(START + 61_000)
    expect(pace.isSlow()).toBe(false)
    pace.look(START + 120_000)
    expect(pace.isSlow()).toBe(false)
    pace.look(START + 121_000)
    expect(changes).toEqual([true, false, true])
  })
  test('what needs the full pace keeps it, and brings it back when it comes', () => {
    let needed = true
    const pace = createPace(() => needed)
    pace.look(START)
    pace.look(START + 600_000)
    expect(pace.isSlow()).toBe(false)
    needed = false
    pace.look(START + 660_000)
    expect(pace.isSlow()).toBe(true)
    needed = true
    pace.look(START + 661_000)
    expect(pace.isSlow()).toBe(false)
  })
  test('a clock that was set back begins the minute again', () => {
    const pace = createPace(() => false)
    pace.look(START)
    pace.look(START - 3_600_000)
    pace.look(START - 3_600_000 + 59_000)
    expect(pace.isSlow()).toBe(false)
    pace.look(START - 3_600_000 + 60_000)
    expect(pace.isSlow()).toBe(true)
  })
})

describe('a scheduler with a pace', () => {
  test('runs at the slow period while it is slow, and at the next second once it is not', () => {
    vi.useFakeTimers({ now: START + 300 })
    onTestFinished(() => void vi.useRealTimers())
    const pace = createPace(() => false)
    const scheduler = createScheduler(quiet, 0, pace)
    const times: number[] = []
    const looks: number[] = []
    scheduler.every(1_000, (t) => void times.push((t - START) / 1_000))
    scheduler.every(1_000, (t) => void looks.push((t - START) / 1_000), 2_000)
    vi.advanceTimersByTime(2_000)
    expect(times).toEqual([1, 2])
    pace.look(START - 60_000)
    pace.look(START)
    vi.advanceTimersByTime(8_000)
    expect(times).toEqual([1, 2, 4, 8])
    expect(looks).toEqual([1, 2, 4, 6, 8, 10])
    pace.wake(START)
    vi.advanceTimersByTime(2_000)
    expect(times).toEqual([1, 2, 4, 8, 11, 12])
    scheduler.stop()
    vi.advanceTimersByTime(20_000)
    expect(times).toHaveLength(6)
  })
  test('a task that changes the pace itself is armed once', () => {
    vi.useFakeTimers({ now: START + 300 })
    onTestFinished(() => void vi.useRealTimers())
    const pace = createPace(() => false)
    const scheduler = createScheduler(quiet, 0, pace)
    const times: number[] = []
    scheduler.every(1_000, (t) => {
      times.push((t - START) / 1_000)
      if (times.length === 1) pace.look(t - 60_000)
      if (times.length === 2) pace.look(t)
    })
    vi.advanceTimersByTime(10_300)
    expect(times).toEqual([1, 2, 4, 8])
    expect(vi.getTimerCount()).toBe(1)
    scheduler.stop()
  })
})
