// When the peaks of a process's memory meet the end of the card, if what grows goes on growing as it did: over the longest time in which it grew in a line.
import { crossing, meanExcess } from './crossing.ts'
import { growthOf, type Growth } from './growth.ts'
import type { MemoryWindow } from '../parts/memory-history.ts'
import { pointsOf, TOO_LITTLE, type Point } from '../parts/points.ts'
import { fitLine, median } from '../parts/trend.ts'

export type Exhaustion = {
  /** From now, ms. */
  readonly earliest: number
  readonly latest: number
  /** Bytes per ms, of the peaks. */
  readonly slope: number
  /** Above the highest peak, brought to now. */
  readonly room: number
  /** 1: the growth stays between the peaks, 0: only the peaks grow. */
  readonly stays: number
  readonly spanMs: number
  readonly points: readonly Point[]
}
export type View = {
  readonly windows: readonly MemoryWindow[]
  readonly windowMs: number
  readonly spansMs: readonly number[]
  readonly capacity: number
  /** Seen by the driver alone, a process answers only for what it took itself. */
  readonly ownOnly: boolean
}

const MINUTE_MS = 60_000

/**
 * Chosen on the simulator of shared/tools/allocator-sim: its suite-dev and two suites of other seeds; a further suite was only looked at now and then, but also
 * led to `outsideLate`. Synthetic workloads: no rates of the field. What each is for is beside it.
 */
export const RULES = {
  /** Certainty of the trend; eight lookbacks are tried each half minute, so the usual 2.33 would give findings by chance. */
  z: 3,
  /** Least rise over the lookback, as a share of the capacity. */
  rise: 0.004,
  /** Share of the rise that one step may be: stairs are growth from about four on. */
  step: 0.45,
  /** Share of the rise in the newer half. */
  older: 0.3,
  newer: 0.78,
  /** No further ahead than the growth was seen, times this. What stays does not go away by itself; load does. */
  horizon: 1.2,
  loadHorizon: 0.4,
  /** An interval that ends later than this many lookbacks says nothing. */
  wide: 3,
  /** Where less of the growth than this stays, it is load: reported only after it was seen for this long, and when its peaks are new highs. */
  load: 0.5,
  loadSpanMs: 18 * MINUTE_MS,
  repeats: 0.15,
  /** Of the capacity: the driver's granularity, segments' rounding. */
  margin: 0.01,
  /** Peaks last a tenth of a second and are sampled once a second: what was seen is less than what was. */
  excess: 1.5,
  earlyChance: 0.02,
  early: 0.85,
  lateChance: 0.8,
  late: 1,
  lateMs: 3 * MINUTE_MS,
  /** What grows outside of PyTorch gets only what PyTorch's cache leaves, so that it grows more slowly once the card is full. */
  outsideLate: 1.2,
}

/** Peaks that are as high as one of this long ago, to this share of the capacity. */
const AGAIN_AFTER_MS = 4 * MINUTE_MS
const AGAIN_WITHIN_MS = 10 * MINUTE_MS
const SAME = 1e-4

/**
 * Share of the newest windows whose peak was there minutes before, to the byte: then it is of a known shape, and growth by new shapes ends when all have
 * been seen. Peaks of growing load are new each time.
 */
function repeats(windows: readonly MemoryWindow[], now: number, capacity: number): number {
  let [all, again] = [0, 0]
  for (const { t, high } of windows) {
    if (now - t > AGAIN_WITHIN_MS) continue
    all += 1
    if (windows.some((other) => t - other.t >= AGAIN_AFTER_MS && Math.abs(other.high - high) <= SAME * capacity)) again += 1
  }
  return all === 0 ? 0 : again / all
}

/**
 * Cheap, before any statistics: has anything risen, and could it reach the end within the horizon if it rose three times as fast? A healthy process ends here.
 */
function inReach(points: readonly Point[], capacity: number): boolean {
  const third = Math.floor(points.length / 3)
  const rise = (of: (point: Point) => number): number => median(points.slice(-third).map(of)) - median(points.slice(0, third).map(of))
  const mean = rise((point) => point.mean)
  if (mean <= 0) return false
  const held = Float64Array.from(points, (point) => point.held).sort()
  const room = capacity * (1 - RULES.margin) - (held.at(-1) ?? 0) - 3 * meanExcess(held)
  // The rise from the middle of the first third to that of the last one is two thirds of the whole.
  const whole =
    1.5 *
    Math.max(
      mean,
      rise((point) => point.low),
      rise((point) => point.high),
    )
  return (RULES.early * room) / RULES.horizon <= 3 * whole
}

function outsideGrows(points: readonly Point[]): boolean {
  const [first, last] = [points[0], points.at(-1)]
  return first !== undefined && last !== undefined && last.outside - first.outside > 0.5 * (last.mean - first.mean)
}

function bounds(
  points: readonly Point[],
  growth: Growth,
  now: number,
  capacity: number,
): { readonly earliest: number; readonly latest: number; readonly room: number } {
  const { line, gains } = growth
  const level = line.at(0)
  const brought = (height: (point: Point) => number): Float64Array =>
    Float64Array.from(points, (point) => level + height(point) - line.at(point.t - now) + gains * (now - point.t)).sort()
  const peaks = brought(({ high }) => high)
  const held = brought((point) => point.held)
  const late = outsideGrows(points) ? RULES.outsideLate : RULES.late
  const blockMs = ((points.at(-1)?.t ?? now) - (points[0]?.t ?? now)) / (points.length - 1)
  // At the earliest with all that a flush does not give back, at the latest when the live bytes themselves no longer fit.
  const unfavourable = { sorted: held, blockMs, excess: RULES.excess * meanExcess(held) }
  return {
    earliest: RULES.early * crossing(unfavourable, capacity * (1 - RULES.margin), growth.slopeHigh, RULES.earlyChance),
    latest: late * crossing({ sorted: peaks, blockMs, excess: 0 }, capacity, growth.slopeLow, RULES.lateChance) + RULES.lateMs,
    room: Math.max(0, capacity - (peaks.at(-1) ?? 0)),
  }
}

function over({ windows, windowMs, capacity, ownOnly }: View, now: number, spanMs: number): Exhaustion | string {
  const points = pointsOf(windows, windowMs, now, spanMs)
  if (points === undefined) return TOO_LITTLE
  if (!inReach(points, capacity)) return 'no rise that matters'
  const growth = growthOf(points, now, { ...RULES, rise: RULES.rise * capacity })
  if (typeof growth === 'string') return growth
  if (ownOnly) {
    const own = fitLine(
      points.map(({ t }) => t - now),
      points.map(({ ownMean }) => ownMean),
    )
    if (own === undefined || own.z < RULES.z || own.slope < 0.5 * growth.line.slope) return 'others grow'
  }
  const span = (points.at(-1)?.t ?? now) - (points[0]?.t ?? now)
  const load = growth.stays < RULES.load
  if (load && span < RULES.loadSpanMs) return 'load, for a short time'
  if (load && repeats(windows, now, capacity) >= RULES.repeats) return 'known shapes'
  const { earliest, latest, room } = bounds(points, growth, now, capacity)
  if (!(earliest <= (load ? RULES.loadHorizon : RULES.horizon) * span)) return 'too far ahead'
  if (!(latest <= RULES.wide * span)) return 'too vague'
  return { earliest, latest, room, slope: growth.slope, stays: growth.stays, spanMs: span, points }
}

/** A string says why there is no forecast. */
export function foresee(view: View, now: number): Exhaustion | string {
  let why: string = TOO_LITTLE
  for (const spanMs of view.spansMs) {
    const found = over(view, now, spanMs)
    if (typeof found !== 'string') return found
    if (found !== TOO_LITTLE) why = found
  }
  return why
}
