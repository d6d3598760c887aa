// After how long a peak has met the end, when peaks are drawn from those that were seen and all of them rise.

export type Peaks = {
  /** Heights of one peak per block of time, brought to now, ascending. */
  readonly sorted: Float64Array
  readonly blockMs: number
  /** By how much records are broken: beyond the highest the chance falls by a factor of e per so many bytes. 0 = never. */
  readonly excess: number
}

/** By how much the upper quarter exceeds the rest, on average. */
export function meanExcess(sorted: Float64Array): number {
  const from = Math.ceil(0.75 * sorted.length)
  const above = sorted.subarray(from)
  const threshold = sorted[from - 1]
  if (above.length === 0 || threshold === undefined) return 0
  return above.reduce((sum, peak) => sum + peak - threshold, 0) / above.length
}

/** A forecast further ahead is of no use. */
const MAX_BLOCKS = 400

/** Milliseconds from now until the chance that a peak has met `end` is `chance`; Infinity when that is too far to say. */
export function crossing({ sorted, blockMs, excess }: Peaks, end: number, slope: number, chance: number): number {
  const highest = sorted.at(-1)
  if (highest === undefined || !(slope > 0)) return Infinity
  let survives = 1
  let below = sorted.length
  for (let block = 0; block < MAX_BLOCKS; block++) {
    const threshold = end - slope * blockMs * block
    while (below > 0 && (sorted[below - 1] ?? 0) >= threshold) below -= 1
    const seen = (sorted.length - below) / sorted.length
    const record = excess > 0 ? Math.exp((highest - threshold) / excess) / (sorted.length + 1) : 0
    const after = survives * (1 - Math.min(1, Math.max(seen, record)))
    if (1 - after >= chance) {
      const part = survives > after ? Math.max(0, (chance - 1 + survives) / (survives - after)) : 1
      const within = Math.max(0, block - 1 + part) * blockMs
      // Without records nothing meets the end before the highest does.
      return excess > 0 ? within : Math.max(within, (end - highest) / slope, 0)
    }
    survives = after
  }
  return Infinity
}
