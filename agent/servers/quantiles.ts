// A latency over the last minute out of a server's own histogram: the difference of two readings, linear inside a bucket.
import type { Histogram } from '../model/histogram.ts'

export const QUANTILES = [0.5, 0.95, 0.99] as const

/** What was counted between two readings; undefined when the server began again or counts by other bounds. */
export function since(before: Histogram, now: Histogram): Histogram | undefined {
  if (before.bounds.length !== now.bounds.length || before.bounds.some((bound, at) => bound !== now.bounds[at])) return undefined
  const counts = now.counts.map((count, at) => count - (before.counts[at] ?? 0))
  return counts.some((count) => count < 0) ? undefined : { bounds: now.bounds, counts }
}

/** undefined when nothing was counted. In the last bucket it is the highest bound that is known: "at least this". */
export function quantileOf({ bounds, counts }: Histogram, q: number): number | undefined {
  const total = counts.at(-1) ?? 0
  if (total <= 0) return undefined
  const rank = q * total
  const at = counts.findIndex((count) => count >= rank)
  const upper = bounds[at] ?? Infinity
  const [below, lower] = at === 0 ? [0, 0] : [counts[at - 1] ?? 0, bounds[at - 1] ?? 0]
  if (upper === Infinity) return lower
  const inside = (counts[at] ?? 0) - below
  return inside <= 0 ? upper : lower + ((upper - lower) * (rank - below)) / inside
}
