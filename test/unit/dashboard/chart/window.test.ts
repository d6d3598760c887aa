// Zooming and moving windows of time: what the address says, what a press makes of it, and what history is asked for.
import * as fc from '../../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { localInput, localSecond } from '../../../../dashboard/src/parts/chart/tools/local-time.ts'
import { fitted, LONGEST_S, moved, SHORTEST_S, stepFor, windowOf, zoomed } from '../../../../dashboard/src/parts/range/window.ts'

const NOW = 1_770_000_000
const params = (from: string, to: string): ReadonlyMap<string, string> => new Map(Object.entries({ from, to }))

describe('a window in the address', () => {
  test('is two Unix seconds, far enough apart', () => {
    expect(windowOf(params('1769999000', '1769999900'))).toEqual({ from: 1_769_999_000, to: 1_769_999_900 })
  })
  test.each([
    ['', ''],
    ['1769999000', ''],
    ['1769999900', '1769999000'],
    ['1769999000', '1769999001'],
    ['-5', '600'],
    ['1.5', '600'],
    ['0x10', '6e99'],
    ['1', String(NOW)],
    ['NaN', 'Infinity'],
  ])('from %j to %j is none', (from, to) => {
    expect(windowOf(params(from, to))).toBeUndefined()
  })
  test('is none where nothing is said', () => {
    expect(windowOf(new Map())).toBeUndefined()
  })
})

describe('changing it', () => {
  const window = { from: NOW - 1000, to: NOW - 100 }
  test('zooming in keeps the second under the pointer where it is', () => {
    expect(zoomed(window, 0.5, NOW - 550, NOW)).toEqual({ from: NOW - 775, to: NOW - 325 })
    expect(zoomed(window, 0.5, NOW - 1000, NOW)).toEqual({ from: NOW - 1000, to: NOW - 550 })
  })
  test('moving keeps the length, and ends at the present', () => {
    expect(moved(window, -0.5, NOW)).toEqual({ from: NOW - 1450, to: NOW - 550 })
    expect(moved(window, 5, NOW)).toEqual({ from: NOW - 900, to: NOW })
  })
  test('whatever is asked for, the window can be shown and is in no future', () => {
    const second = fc.integer({ min: NOW - 2 * LONGEST_S, max: NOW + LONGEST_S })
    fc.assert(
      fc.property(second, second, fc.double({ min: 0.01, max: 100, noNaN: true }), second, (a, b, factor, at) => {
        for (const next of [fitted({ from: a, to: b }, NOW), zoomed({ from: a, to: b }, factor, at, NOW)]) {
          expect(next.to).toBeLessThanOrEqual(NOW)
          expect(next.to - next.from).toBeGreaterThanOrEqual(SHORTEST_S)
          expect(windowOf(params(String(next.from), String(next.to)))).toEqual(next)
        }
      }),
    )
  })
  test('what history is asked for fits into the pixels', () => {
    fc.assert(
      fc.property(fc.integer({ min: SHORTEST_S, max: LONGEST_S }), (seconds) => {
        const step = stepFor(seconds, 900)
        expect(seconds / step).toBeLessThanOrEqual(900)
        expect(step === 1 || seconds / step > 100).toBe(true)
      }),
    )
  })
})

test('a field of local time gives back the second that it was filled with', () => {
  const ordinary = fc.integer({ min: 1_577_836_800, max: 1_900_000_000 })
  fc.assert(fc.property(ordinary, (second) => localInput(localSecond(localInput(second)) ?? 0) === localInput(second)))
  expect(['', 'today', '2026-05-01', '2026-13-41T00:00'].map(localSecond)).toEqual([undefined, undefined, undefined, undefined])
})
