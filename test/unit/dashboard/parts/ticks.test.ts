// Axes have their marks at round times and round figures, and say the day where hours alone would mislead.
import * as fc from '../../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { roundTicks, tickText, timeTicks } from '../../../../dashboard/src/parts/chart/ticks.ts'

const GIB = 2 ** 30
const local = (day: number, hour = 0, minute = 0): number => new Date(2026, 4, day, hour, minute).getTime() / 1000

describe('marks of time', () => {
  test('stand at round times, as close as there is room', () => {
    const found = timeTicks(local(5, 10, 2), local(5, 10, 17), 100)
    expect(found).toEqual([2, 4, 6, 8, 10, 12, 14, 16].map((minute) => local(5, 10, minute)))
  })
  test('stand at midnight of the reader’s zone where they are days apart', () => {
    expect(timeTicks(local(5, 10), local(8, 10), 80_000)).toEqual([6, 7, 8].map((day) => local(day)))
  })
  test('a range over midnight says the day there', () => {
    const marks = timeTicks(local(5, 20), local(6, 4), 7_000)
    expect(marks.map((second) => tickText(second, 7_200))).toEqual(['20:00', '22:00', '6 May', '02:00', '04:00'])
  })
  test('marks less than a minute apart say their seconds', () => {
    expect(tickText(local(5, 10, 2) + 30, 30)).toBe('10:02:30')
  })
  test('are at least as far apart as asked, and inside the range', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1e9, max: 2e9 }), fc.integer({ min: 1, max: 3e6 }), fc.integer({ min: 1, max: 40 }), (from, span, pieces) => {
        const marks = timeTicks(from, from + span, span / pieces)
        expect(marks.every((at) => at >= from && at <= from + span)).toBe(true)
        expect(marks.every((at, i) => i === 0 || at - (marks[i - 1] ?? 0) >= span / pieces)).toBe(true)
      }),
    )
  })
})

describe('marks of values', () => {
  test.each([
    [79.6 * GIB, 4, 1024 as const, [0, 20, 40, 60].map((gib) => gib * GIB)],
    [3, 2, 10 as const, [0, 1.5, 3]],
    [700, 4, 10 as const, [0, 200, 400, 600]],
    [1, 2, 10 as const, [0, 0.5, 1]],
    [0, 4, 10 as const, [0]],
    // Where three may stand, one alone is no scale.
    [8.3 * GIB, 3, 1024 as const, [0, 3, 6].map((gib) => gib * GIB)],
    [15.1, 3, 10 as const, [0, 5, 10, 15]],
  ])('up to %d at most %d', (top, most, base, marks) => {
    expect(roundTicks(top, most, base)).toEqual(marks)
  })
  test('begin at 0, end at or below the top, and are at most so many', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-3, max: 1e15, noNaN: true }),
        fc.integer({ min: 2, max: 8 }),
        fc.constantFrom(10 as const, 1024 as const),
        (top, most, base) => {
          const marks = roundTicks(top, most, base)
          expect(marks[0]).toBe(0)
          expect(marks.at(-1)).toBeLessThanOrEqual(top * (1 + 1e-8))
          expect(marks.length).toBeGreaterThan(1)
          expect(marks.length - 1).toBeLessThanOrEqual(most)
          expect(marks.length - 1).toBeGreaterThanOrEqual(most > 2 ? 2 : 1)
        },
      ),
    )
  })
})
