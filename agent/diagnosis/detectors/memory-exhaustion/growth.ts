// Whether something has grown in a straight line over the newest time, how fast its peaks rise with it, and how much of the growth stays.
import { fitLine, largestStep, newerShare, type Line } from '../parts/trend.ts'
import type { Point } from '../parts/points.ts'

export type Growth = {
  readonly line: Line
  /** What the line was drawn through: the calmest of floor, mean and peaks. */
  readonly values: readonly number[]
  /** Rise of the peaks, bytes per ms, and its bounds; the upper one also of growth that becomes faster. */
  readonly slope: number
  readonly slopeLow: number
  readonly slopeHigh: number
  /** What the peaks gain on the line, bytes per ms. */
  readonly gains: number
  /** 1: the floor rises as the peaks do, as with a leak; 0: only the peaks rise, as with load. */
  readonly stays: number
}
/** Figures of straightness and certainty; see `memory-exhaustion.ts`. */
export type Straight = { readonly z: number; readonly step: number; readonly older: number; readonly newer: number; readonly rise: number }

/** Trend in the height of the peaks above the line; below it is taken for none. */
const GAIN_Z = 2.33
/** A gain within the noise may still be this large a part of the slope. */
const UNSEEN_GAIN = 0.5
/** A rise that bends upwards is faster now than over the whole: six times what the newer half has more than the older one. */
const BEND = 6

type Candidate = Omit<Growth, 'stays'>

function candidate(xs: readonly number[], values: readonly number[], highs: readonly number[], leastZ: number): Candidate | undefined {
  const line = fitLine(xs, values)
  if (line === undefined || line.z < leastZ || !(line.slopeLow > 0)) return undefined
  const { slope, slopeLow, slopeHigh } = line
  if (values === highs) return { line, values, slope, slopeLow, slopeHigh, gains: 0 }
  const above = fitLine(
    xs,
    highs.map((high, i) => high - (values[i] ?? 0)),
  )
  if (above === undefined) return undefined
  const gaining = above.z > GAIN_Z && above.slopeLow > 0
  const gains = gaining ? above.slope : 0
  return {
    line,
    values,
    slope: slope + gains,
    slopeLow: slopeLow + (gaining ? above.slopeLow : 0),
    slopeHigh: slopeHigh + (gaining ? above.slopeHigh : Math.max(0, Math.min(above.slopeHigh, UNSEEN_GAIN * slope))),
    gains,
  }
}

const vagueness = ({ slope, slopeLow, slopeHigh }: Candidate): number => (slopeHigh - slopeLow) / slope

/** A text says why it is none. `leastRise` in bytes. */
export function growthOf(points: readonly Point[], now: number, { z, step, older, newer, rise: leastRise }: Straight): Growth | string {
  const xs = points.map(({ t }) => t - now)
  const highs = points.map(({ high }) => high)
  const lows = points.map(({ low }) => low)
  let best: Candidate | undefined
  for (const values of [points.map(({ mean }) => mean), lows, highs]) {
    const found = candidate(xs, values, highs, z)
    if (found !== undefined && (best === undefined || vagueness(found) < vagueness(best))) best = found
  }
  if (best === undefined) return 'no trend'
  const { line, values } = best
  const rise = line.slope * ((xs.at(-1) ?? 0) - (xs[0] ?? 0))
  if (rise < leastRise) return 'hardly any rise'
  const noise = line.residual(0.68)
  // How far the medians of the thirds waver by themselves.
  const waver = (1.5 * noise) / Math.sqrt(points.length / 3) / rise
  const share = newerShare(values)
  if (share < older - waver) return 'the rise slows down'
  if (share > newer + waver) return 'the rise has just begun'
  if (largestStep(values, rise, 2 * noise) > step) return 'one step'
  const low = fitLine(xs, lows)
  const bend = Math.max(0, Math.min(1, BEND * (share - 0.5) - 2 * waver))
  return {
    ...best,
    slopeHigh: Math.max(best.slopeHigh, best.slope * (1 + bend)),
    stays: low === undefined ? 0 : Math.max(0, Math.min(1, low.slope / best.slope)),
  }
}
