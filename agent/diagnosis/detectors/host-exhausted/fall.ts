// Whether the memory that is available falls in a straight line towards its end, and when it arrives there.
import { fitLine, largestStep, median, newerShare } from '../parts/trend.ts'

/** `loading`: GPU memory of processes that began a short time ago. */
export type Point = { readonly t: number; readonly available: number; readonly cached: number | undefined; readonly loading: number }
export type Fall = { readonly spanMs: number; readonly perMs: number; readonly leftMs: number }

const MINUTE_MS = 60_000
/** The longest fall counts; three minutes are longer than most models take to load. */
const SPANS_MS = [20, 10, 5, 3].map((minutes) => minutes * MINUTE_MS)
/** No further ahead than so many times the fall was seen. */
const AHEAD = 1.4
/** With less than this share the kernel has nothing left to give back, and the host stalls. */
const RESERVE = 0.03
/** Less of a fall, as a share of the whole, is noise. */
const LEAST_FALL = 0.02
const CERTAIN = 3
const STRAIGHT = { older: 0.35, newer: 0.75, step: 0.45 }
/** Page cache that grows by this share of what is taken is a model being read from disk: that ends with the file. */
const LOADING = 0.3
/** As much of the fall in the hands of processes that have just begun is a load, too. */
const YOUNG = 0.5

export function fallOf(points: readonly Point[], now: number, total: number): Fall | undefined {
  for (const spanMs of SPANS_MS) {
    const seen = points.filter(({ t }) => now - t <= spanMs)
    const [first, last] = [seen[0], seen.at(-1)]
    if (first === undefined || last === undefined || last.t - first.t < 0.95 * spanMs || seen.length < 12) continue
    // Cheap, before any statistics: a host that is well ends here.
    if (first.available - last.available < (LEAST_FALL / 2) * total) continue
    const xs = seen.map(({ t }) => t - now)
    const taken = seen.map(({ available }) => -available)
    const share = newerShare(taken)
    if (share < STRAIGHT.older || share > STRAIGHT.newer) continue
    const line = fitLine(xs, taken)
    if (line === undefined || line.z < CERTAIN || !(line.slopeLow > 0)) continue
    const rise = line.slope * (last.t - first.t)
    if (rise < LEAST_FALL * total) continue
    if (largestStep(taken, rise, 2 * line.residual(0.68)) > STRAIGHT.step) continue
    // What a process takes in its first minutes is its model, which ends by itself.
    if (last.loading > YOUNG * rise) continue
    if (!stillFalls(seen, line.slope)) continue
    if (first.cached !== undefined && last.cached !== undefined && last.cached - first.cached > LOADING * rise) continue
    const leftMs = Math.max(0, (last.available - RESERVE * total) / line.slope)
    if (leftMs <= AHEAD * spanMs) return { spanMs: last.t - first.t, perMs: line.slope, leftMs }
  }
  return undefined
}

/** What has come to rest is over, however long it fell: the newest fifth must go on at half the pace at least. */
function stillFalls(seen: readonly Point[], slope: number): boolean {
  const fifth = Math.max(4, Math.ceil(seen.length / 5))
  const newest = seen.slice(-2)
  const before = seen.slice(-fifth - 2, -fifth)
  const middle = (points: readonly Point[], of: (point: Point) => number): number => median(points.map(of))
  const passed = middle(newest, ({ t }) => t) - middle(before, ({ t }) => t)
  return middle(before, ({ available }) => available) - middle(newest, ({ available }) => available) >= 0.5 * slope * passed
}
