// Timers on the clock's grid: aligned, never doubled, stopped when stopped.
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
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
