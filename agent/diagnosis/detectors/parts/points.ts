// Windows of memory joined to as many points as a line needs, whatever the time they span.
import type { MemoryWindow } from './memory-history.ts'

/** Bytes, as in `MemoryWindow`. `held` is the highest peak with what a flush does not give back. */
export type Point = {
  readonly t: number
  readonly low: number
  readonly mean: number
  readonly high: number
  readonly held: number
  readonly ownLow: number
  readonly ownMean: number
  readonly outside: number
  readonly others: number
}

/** Why nothing is said when the points do not cover the time. */
export const TOO_LITTLE = 'too little was seen'

/** Some 800 pairs: enough for a line, cheap to sort. */
const MAX_POINTS = 40
/** A window of fewer samples has seen too little of what comes and goes. */
const LEAST_SAMPLES = 3
/** Of the time looked at, so much must be covered from the first to the last point; and the last must be so new. */
const COVERED = 0.75
const FRESH_MS = 180_000

function join(group: readonly MemoryWindow[]): Point {
  let [t, low, sum, samples, ownLow, ownSum] = [0, 0, 0, 0, 0, 0]
  let top = group[0]
  for (const window of group) {
    t += window.t
    low += window.low
    ownLow += window.ownLow
    sum += window.sum
    ownSum += window.ownSum
    samples += window.samples
    if (top === undefined || window.high > top.high) top = window
  }
  const last = group.at(-1)
  const n = group.length
  return {
    t: t / n,
    // The mean of the least, since the least of all is an outlier's.
    low: low / n,
    mean: sum / samples,
    high: top?.high ?? 0,
    held: top?.highUnreleasable ?? 0,
    ownLow: ownLow / n,
    ownMean: ownSum / samples,
    outside: last?.outside ?? 0,
    others: last?.others ?? 0,
  }
}

/** Those of the newest `spanMs`, at least eight; undefined when they do not cover it. */
export function pointsOf(windows: readonly MemoryWindow[], windowMs: number, now: number, spanMs: number): readonly Point[] | undefined {
  const first = windows[0]
  if (first === undefined || now - first.t < COVERED * spanMs) return undefined
  const size = Math.ceil(spanMs / MAX_POINTS / windowMs) * windowMs
  const points: Point[] = []
  let group: MemoryWindow[] = []
  let slot = Number.NaN
  for (const window of windows) {
    if (window.t < now - spanMs || window.samples < LEAST_SAMPLES) continue
    const at = Math.floor(window.t / size)
    if (at !== slot && group.length > 0) {
      points.push(join(group))
      group = []
    }
    slot = at
    group.push(window)
  }
  if (group.length > 0) points.push(join(group))
  const [oldest, newest] = [points[0], points.at(-1)]
  if (oldest === undefined || newest === undefined || points.length < 8) return undefined
  const stale = now - newest.t > Math.max(FRESH_MS, 2 * size)
  return stale || newest.t - oldest.t < COVERED * spanMs ? undefined : points
}
