// Timers on the clock's grid: aligned, never doubled, stopped when stopped.
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createScheduler } from '../../../agent/lib/scheduler.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

describe('scheduler', () => {
  test('runs at multiples of the period, each once and in order', async () => {
    const scheduler = createScheduler(quiet)
    const times: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    scheduler.every(20, (t) => {
      times.push(t)
      if (times.length === 10) resolve()
    })
    await promise
    scheduler.stop()
    expect(times.filter((t) => t % 20 !== 0)).toEqual([])
    expect([...new Set(times)].sort((a, b) => a - b)).toEqual(times)
  })

  test('with a phase it runs that much after the grid point whose time it tells', async () => {
    const scheduler = createScheduler(quiet, 30)
    const { promise, resolve } = Promise.withResolvers<number>()
    scheduler.every(100, (t) => resolve(Date.now() - t))
    expect(await promise).toBeGreaterThanOrEqual(29) // a timer may fire a millisecond early
    scheduler.stop()
  })

  test.each([
    ['set back by an hour', -3_600_000],
    ['set forward by a day', 86_400_000],
    ['gone on while this process stood still', 61_000],
  ])('a clock that was %s: the time that is told is that of now, on the grid', (_, jumpMs) => {
    const start = 1_763_596_800_000
    vi.useFakeTimers({ now: start })
    onTestFinished(() => void vi.useRealTimers())
    const scheduler = createScheduler(quiet)
    const times: number[] = []
    scheduler.every(10_000, (t) => void times.push(t))
    vi.advanceTimersByTime(12_000)
    vi.setSystemTime(start + 12_000 + jumpMs)
    vi.advanceTimersByTime(10_000)
    scheduler.stop()
    expect(times[0]).toBe(start + 10_000)
    expect(times.length).toBeGreaterThan(1)
    for (const t of times.slice(1)) expect(Math.abs(t - (start + 12_000 + jumpMs))).toBeLessThanOrEqual(10_000)
    expect(times.every((t) => t % 10_000 === 0)).toBe(true)
    expect(new Set(times).size).toBe(times.length)
  })

  test('a task that is still running is not started again', async () => {
    const scheduler = createScheduler(quiet)
    let running = 0
    let most = 0
    let runs = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    scheduler.every(5, async () => {
      running += 1
      most = Math.max(most, running)
      await wait(23)
      running -= 1
      runs += 1
      if (runs === 3) resolve()
    })
    await promise
    scheduler.stop()
    expect(most).toBe(1)
  })

  test('a task that throws, at once or later, is told and run again', async () => {
    const errors: string[] = []
    const scheduler = createScheduler({ ...quiet, error: (text) => errors.push(text) })
    let runs = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    scheduler.every(5, () => {
      runs += 1
      if (runs === 1) throw new Error('at once')
      if (runs > 2) resolve()
      return runs === 2 ? Promise.reject(new Error('later')) : Promise.resolve()
    })
    await promise
    scheduler.stop()
    expect(errors.map((text) => /at once|later/.exec(text)?.[0])).toEqual(['at once', 'later'])
  })
})
