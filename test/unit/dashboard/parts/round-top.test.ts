// Scales of charts end at round numbers that lie close above what they show.
import * as fc from '../../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { roundTop } from '../../../../dashboard/src/parts/chart/values.ts'

const GIB = 2 ** 30

describe('the top of a scale', () => {
  test.each([
    [48, 60],
    [100, 100],
    [2.62e9, 3e9],
    [213e9, 300e9],
    [0.3, 0.3],
    [0, 1],
  ])('above %d is %d', (value, top) => {
    expect(roundTop(value)).toBeCloseTo(top, 9)
  })
  test('of bytes it is a round number of GiB or MiB', () => {
    expect([78.6 * GIB, 0.7 * GIB, 512 * GIB].map((bytes) => roundTop(bytes, 1024))).toEqual([80 * GIB, 800 * 2 ** 20, 600 * GIB])
  })
  test('is never below, and at most twice as high', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e15, noNaN: true }), fc.constantFrom(10 as const, 1024 as const), (value, base) => {
        const top = roundTop(value, base)
        expect(top).toBeGreaterThanOrEqual(value * (1 - 1e-8))
        expect(top / value).toBeLessThanOrEqual(2.000_001)
      }),
    )
  })
})
