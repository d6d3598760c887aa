// Lines through noisy points, and when drawn peaks meet an end.
import { array, assert, double, integer, property } from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { crossing, meanExcess } from '../../../agent/diagnosis/detectors/memory-exhaustion/crossing.ts'
import { fitLine, largestStep, median, newerShare, quantile } from '../../../agent/diagnosis/detectors/parts/trend.ts'

const xs = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i)
const lineOf = (y: readonly number[]) => {
  const line = fitLine(xs(y.length), y)
  if (line === undefined) throw new Error(`expected a line through ${y.length} points`)
  return line
}
const heights = array(integer({ min: -1e12, max: 1e12 }), { minLength: 4, maxLength: 60 })

describe('line', () => {
  test('finds slope and height of an exact line, and is sure of it', () => {
    const line = lineOf(xs(20).map((x) => 3 * x + 7))
    expect(line).toMatchObject({ slope: 3, slopeLow: 3, slopeHigh: 3 })
    expect(line.at(100)).toBeCloseTo(307)
    expect(line.z).toBeGreaterThan(5)
    expect(line.residual(1)).toBe(0)
  })
  test('is not moved by a quarter of outliers', () => {
    expect(lineOf(xs(40).map((x) => (x % 4 === 0 ? 1_000 : x))).slope).toBeCloseTo(1, 1)
  })
  test('sees no trend in what is flat, in what swings, and in one step that is followed by nothing', () => {
    expect(lineOf(xs(40).map(() => 5)).z).toBe(0)
    expect(Math.abs(lineOf(xs(40).map((x) => Math.sin(x))).z)).toBeLessThan(2.33)
    expect(lineOf(xs(40).map((x) => (x < 20 ? 0 : 10))).z).toBeLessThan(3)
  })
  test('has ordered finite bounds whatever the points are', () => {
    assert(
      property(heights, (y) => {
        const { slope, slopeLow, slopeHigh, z, at, residual } = lineOf(y)
        expect([slope, slopeLow, slopeHigh, z, at(3), residual(0.9)].every(Number.isFinite)).toBe(true)
        expect(slopeLow).toBeLessThanOrEqual(slope)
        expect(slope).toBeLessThanOrEqual(slopeHigh)
      }),
    )
  })
  test('is the median of all slopes, with the ranks of its interval among them', () => {
    assert(
      property(array(integer({ min: -40, max: 40 }), { minLength: 4, maxLength: 60 }), (y) => {
        const slopes = xs(y.length)
          .flatMap((i) => xs(i).map((j) => ((y[i] ?? 0) - (y[j] ?? 0)) / (i - j)))
          .toSorted((a, b) => a - b)
        const { slope, slopeLow, slopeHigh } = lineOf(y)
        expect(slope).toBe(quantile(slopes, 0.5))
        expect(slopes).toContain(slopeLow)
        // As far below the median as above it, by rank.
        const last = slopes.length - 1
        const middle = Math.round(last / 2)
        const ranks = xs(slopes.length).filter((rank) => rank <= middle && quantile(slopes, rank / last) === slopeLow)
        expect(ranks.some((rank) => [-1, 0, 1].some((by) => quantile(slopes, (last - rank + by) / last) === slopeHigh))).toBe(true)
      }),
    )
  })
  test('turns around with the points', () => {
    assert(
      property(heights, (y) => {
        expect(Math.sign(lineOf(y.map((v) => -v)).z) + Math.sign(lineOf(y).z)).toBe(0)
      }),
    )
  })
  test('needs four points at different times', () => {
    expect(fitLine([1, 2, 3], [1, 2, 3])).toBeUndefined()
    expect(fitLine([1, 1, 1, 1], [1, 2, 3, 4])).toBeUndefined()
  })
})

describe('shape of a rise', () => {
  test('tells a straight one from one that has just begun and one that is over', () => {
    expect(newerShare(xs(30))).toBeCloseTo(0.5)
    expect(newerShare(xs(30).map((x) => Math.max(0, x - 20)))).toBe(1)
    expect(newerShare(xs(30).map((x) => Math.min(10, x)))).toBe(0)
    expect(newerShare(xs(30).map((x) => -x))).toBe(0)
  })
  test('one step is the whole rise, five steps are a fifth each', () => {
    expect(
      largestStep(
        xs(40).map((x) => (x < 20 ? 0 : 10)),
        10,
        0,
      ),
    ).toBe(1)
    expect(
      largestStep(
        xs(50).map((x) => Math.floor(x / 10)),
        5,
        0,
      ),
    ).toBeCloseTo(0.2)
  })
  test('ranks', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(quantile([1, 2, 3, 4, 5], 1)).toBe(5)
    expect(quantile([], 0.5)).toBeNaN()
  })
})

describe('crossing', () => {
  const same = { sorted: Float64Array.from({ length: 20 }, () => 90), blockMs: 60_000, excess: 0 }
  test('equal peaks meet the end when they are there, and not before', () => {
    const at = crossing(same, 100, 1 / 60_000, 0.9)
    expect(at).toBeGreaterThanOrEqual(600_000)
    expect(at).toBeLessThanOrEqual(660_000)
  })
  test('what is there already has met it; what does not rise never does', () => {
    expect(crossing(same, 80, 1 / 60_000, 0.9)).toBe(0)
    expect(crossing(same, 100, 0, 0.9)).toBe(Infinity)
    expect(crossing({ ...same, sorted: new Float64Array() }, 100, 1, 0.9)).toBe(Infinity)
  })
  test('records bring it nearer', () => {
    expect(crossing({ ...same, excess: 2 }, 100, 1 / 60_000, 0.02)).toBeLessThan(crossing(same, 100, 1 / 60_000, 0.02))
    expect(meanExcess(Float64Array.from([1, 1, 1, 1, 1, 1, 3, 5]))).toBe(3)
    expect(meanExcess(same.sorted)).toBe(0)
  })
  test('is later for a higher chance and sooner for a steeper rise', () => {
    const peaks = array(double({ min: 0, max: 100, noNaN: true }), { minLength: 2, maxLength: 40 }).map((list) => Float64Array.from(list).sort())
    const slope = double({ min: 1e-6, max: 1e-3, noNaN: true })
    assert(
      property(peaks, slope, double({ min: 0, max: 20, noNaN: true }), (sorted, rise, excess) => {
        const of = { sorted, blockMs: 60_000, excess }
        const [early, late] = [crossing(of, 120, rise, 0.02), crossing(of, 120, rise, 0.8)]
        expect(early).toBeGreaterThanOrEqual(0)
        expect(early).toBeLessThanOrEqual(late)
        expect(crossing(of, 120, 2 * rise, 0.8)).toBeLessThanOrEqual(late)
      }),
    )
  })
})
