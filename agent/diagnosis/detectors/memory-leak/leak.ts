// Whether what a process keeps, even when it is idle, has grown in a straight line over a long time.
import type { MemoryWindow } from '../parts/memory-history.ts'
import { pointsOf, TOO_LITTLE, type Point } from '../parts/points.ts'
import { fitLine, largestStep, median, newerShare, type Line } from '../parts/trend.ts'

export type Leak = {
  /** Bytes per ms. */
  readonly slope: number
  readonly grown: number
  readonly since: number
  readonly spanMs: number
}
export type LeakView = {
  readonly windows: readonly MemoryWindow[]
  readonly windowMs: number
  readonly spansMs: readonly number[]
  readonly capacity: number
  /** Without a probe a cache that warms up looks the same but for its shape: it slows down. */
  readonly byDriver: boolean
  /** Least growth, as a share of the capacity. */
  readonly share: number
}

/** Chosen on the same suites as those of the forecast (`exhaustion.ts`). By the driver alone a server's cache was once in a suite taken for a leak. */
export const LEAK_RULES = {
  /** Certainty of the calmest of floor, mean and peaks; and of the floor itself, which must take part. */
  z: 3,
  floorZ: 1.5,
  /** Of the mean's rise the floor must make so much. */
  stays: 0.7,
  /** With load the peaks move away from the floor: surer than this, and by more than this part of the floor's rise. */
  spreadZ: 2,
  spread: 0.35,
  older: 0.3,
  newer: 0.8,
  step: 0.35,
  /** Nine of ten points lie so near to the line, as a part of the rise. */
  waver: 0.3,
  /** By the driver alone a cache that fills looks like a leak but for its shape: it slows down, and it grows by leaps at random. */
  driverOlder: 0.42,
  driverNewer: 0.7,
  driverStep: 0.25,
  driverWaver: 0.12,
}

const SLOWS = 'the rise slows down'

type Course = { readonly line: Line; readonly values: readonly number[] }

/** The calmest of floor, mean and peaks, when they rise together as they do when something is kept; a text when they do not. */
function together(points: readonly Point[], xs: readonly number[], byDriver: boolean): Course | string {
  const course = (values: readonly number[]): Course | undefined => {
    const line = fitLine(xs, values)
    return line === undefined ? undefined : { line, values }
  }
  const floor = course(points.map(({ ownLow, outside }) => ownLow + outside))
  const mean = course(points.map(({ ownMean, outside }) => ownMean + outside))
  const top = course(points.map(({ high, others }) => high - others))
  const spread = course(points.map(({ high, others, ownLow, outside }) => high - others - ownLow - outside))
  if (floor === undefined || mean === undefined || top === undefined || spread === undefined) return TOO_LITTLE
  if (Math.max(floor.line.z, mean.line.z, top.line.z) < LEAK_RULES.z || floor.line.z < LEAK_RULES.floorZ || !(floor.line.slope > 0)) return 'no trend'
  if (floor.line.slope < LEAK_RULES.stays * mean.line.slope) return 'the mean grows more than what stays'
  if (spread.line.z > LEAK_RULES.spreadZ && spread.line.slope > LEAK_RULES.spread * floor.line.slope) return 'the peaks grow more than what stays'
  // A mean hides the leaps by which a cache grows.
  if (byDriver) return floor
  const vague = ({ line }: Course): number => (line.slope > 0 ? line.residual(0.9) / line.slope : Infinity)
  return [floor, mean, top].reduce((best, next) => (vague(next) < vague(best) ? next : best))
}

function over({ windows, windowMs, capacity, byDriver, share: leastShare }: LeakView, now: number, spanMs: number): Leak | string {
  const points = pointsOf(windows, windowMs, now, spanMs)
  if (points === undefined) return TOO_LITTLE
  const xs = points.map(({ t }) => t - now)
  // Cheap first: most processes do not grow at all.
  const third = Math.floor(points.length / 3)
  const rise =
    median(points.slice(-third).map(({ ownMean, outside }) => ownMean + outside)) -
    median(points.slice(0, third).map(({ ownMean, outside }) => ownMean + outside))
  if (2 * rise < leastShare * capacity) return 'hardly any rise'
  const course = together(points, xs, byDriver)
  if (typeof course === 'string') return course
  const { line, values } = course
  const span = (xs.at(-1) ?? 0) - (xs[0] ?? 0)
  const grown = line.slope * span
  if (grown < leastShare * capacity) return 'hardly any rise'
  const noise = line.residual(0.68)
  const waver = (1.5 * noise) / Math.sqrt(points.length / 3) / grown
  const share = newerShare(values)
  if (share < (byDriver ? LEAK_RULES.driverOlder : LEAK_RULES.older - waver)) return SLOWS
  if (share > (byDriver ? LEAK_RULES.driverNewer : LEAK_RULES.newer) + waver) return 'the rise has just begun'
  if (largestStep(values, grown, 2 * noise) > (byDriver ? LEAK_RULES.driverStep : LEAK_RULES.step)) return 'few steps'
  if (line.residual(0.9) > (byDriver ? LEAK_RULES.driverWaver : LEAK_RULES.waver) * grown) return 'leaps at random'
  return { slope: line.slope, grown, since: points[0]?.t ?? now, spanMs: span }
}

/** Over the longest time; a text says why it is none. */
export function leakOf(view: LeakView, now: number): Leak | string {
  let why: string = TOO_LITTLE
  for (const spanMs of view.spansMs) {
    const found = over(view, now, spanMs)
    if (typeof found !== 'string') return found
    // What slows down over a longer time looks straight over a shorter one.
    if (view.byDriver && found === SLOWS) return found
    if (found !== TOO_LITTLE) why = found
  }
  return why
}

/** Bytes per ms that the floor rose by lately; undefined when too little was seen. */
export function floorSlope({ windows, windowMs }: Pick<LeakView, 'windows' | 'windowMs'>, now: number, spanMs: number): number | undefined {
  const points = pointsOf(windows, windowMs, now, spanMs)
  if (points === undefined) return undefined
  return fitLine(
    points.map(({ t }) => t - now),
    points.map(({ ownLow, outside }) => ownLow + outside),
  )?.slope
}
