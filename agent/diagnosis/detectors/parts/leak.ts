// Whether what a process keeps, even when it is idle, has grown in a straight line over a long time.
import type { MemoryWindow } from './memory-history.ts'
import { pointsOf, type Point } from './points.ts'
import { fitLine, largestStep, newerShare } from './trend.ts'

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

export const LEAK_RULES = {
  z: 3,
  /** The floor must rise by so much of what the mean does: with load the mean rises more. */
  stays: 0.6,
  older: 0.3,
  newer: 0.8,
  step: 0.35,
  /** By the driver alone: the newer half must not fall behind, and steps must be small. */
  driverOlder: 0.42,
  driverNewer: 0.7,
  driverStep: 0.25,
}

function over({ windows, windowMs, capacity, byDriver, share: leastShare }: LeakView, now: number, spanMs: number): Leak | string {
  const points = pointsOf(windows, windowMs, now, spanMs)
  if (points === undefined) return 'too little was seen'
  const xs = points.map(({ t }) => t - now)
  const kept = (point: Point): number => point.ownLow + point.outside
  const floors = points.map(kept)
  if ((floors.at(-1) ?? 0) <= (floors[0] ?? 0)) return 'no rise'
  const floor = fitLine(xs, floors)
  if (floor === undefined || floor.z < LEAK_RULES.z || !(floor.slopeLow > 0)) return 'no trend'
  const span = (xs.at(-1) ?? 0) - (xs[0] ?? 0)
  const grown = floor.slope * span
  if (grown < leastShare * capacity) return 'hardly any rise'
  const mean = fitLine(
    xs,
    points.map(({ ownMean, outside }) => ownMean + outside),
  )
  if (mean === undefined || floor.slope < LEAK_RULES.stays * mean.slope) return 'the peaks grow more than what stays'
  const noise = floor.residual(0.68)
  const waver = (1.5 * noise) / Math.sqrt(points.length / 3) / grown
  const share = newerShare(floors)
  if (share < (byDriver ? LEAK_RULES.driverOlder : LEAK_RULES.older) - waver) return 'the rise slows down'
  if (share > (byDriver ? LEAK_RULES.driverNewer : LEAK_RULES.newer) + waver) return 'the rise has just begun'
  if (largestStep(floors, grown, 2 * noise) > (byDriver ? LEAK_RULES.driverStep : LEAK_RULES.step)) return 'few steps'
  return { slope: floor.slope, grown, since: points[0]?.t ?? now, spanMs: span }
}

/** Over the longest time; a text says why it is none. */
export function leakOf(view: LeakView, now: number): Leak | string {
  let why = 'too little was seen'
  for (const spanMs of view.spansMs) {
    const found = over(view, now, spanMs)
    if (typeof found !== 'string') return found
    if (found !== 'too little was seen') why = found
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
