// Pauses between tries, and the budget of messages: bounds that hold for every input.
import * as fc from '../../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { retryAfterMs } from '../../../agent/lib/retry-after.ts'
import { backoffMs, createBudget } from '../../../alerts/delivery/backoff.ts'
import { HOUR, MINUTE, T } from '../../setup/alert-scene.ts'

test('pauses grow from a second to five minutes and are spread', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, random) => {
      const ms = backoffMs(failures, () => random)
      expect(ms).toBeGreaterThanOrEqual(1_000)
      expect(ms).toBeLessThanOrEqual(5 * MINUTE)
    }),
  )
  expect([1, 2, 3, 9, 500].map((failures) => backoffMs(failures, () => 1))).toEqual([2_000, 4_000, 8_000, 300_000, 300_000])
  expect([0, 0.5].map((random) => backoffMs(30, () => random))).toEqual([1_000, 150_500])
})

test.each([
  ['7', 7_000],
  ['0', 0],
  ['86400', HOUR],
  [new Date(T + 90_000).toUTCString(), 90_000],
  [new Date(T - 90_000).toUTCString(), 0],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, ms) => {
  expect(retryAfterMs(header, T)).toBe(ms)
})

test('within no minute more messages than the budget, and in the long run three quarters of it at least', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 }), (perMinute, gaps) => {
      const budget = createBudget(perMinute)
      const sent: number[] = []
      let now = T
      for (const gap of gaps) {
        now += gap
        // As a sender does: what may not go yet waits for as long as it is reported.
        const wait = budget.waitMs(now)
        now += wait
        expect(budget.waitMs(now)).toBe(0)
        budget.take(now)
        sent.push(now)
      }
      for (const first of sent) expect(sent.filter((t) => t >= first && t < first + MINUTE).length).toBeLessThanOrEqual(perMinute)
    }),
    // Fractions that add up to a hair less than one.
    { examples: [[6, [0, 0, 1_866]]] },
  )
  const budget = createBudget(20)
  let [now, count] = [T, 0]
  for (; now < T + HOUR; now += budget.waitMs(now)) {
    budget.take(now)
    count += 1
  }
  expect(count).toBeGreaterThan(15 * 60)
})

test('a clock set back holds no message up for longer than a full refill', () => {
  const budget = createBudget(20)
  for (let n = 0; n < 5; n++) budget.take(T)
  expect(budget.waitMs(T - HOUR)).toBeGreaterThan(0)
  expect(budget.waitMs(T - HOUR + MINUTE)).toBe(0)
  expect(createBudget(0).waitMs(T)).toBe(0)
})
