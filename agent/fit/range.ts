// Ranges of bytes: an estimate with how sure it is.
import type { Range } from '../model/fit.ts'

export const NOTHING: Range = { low_bytes: 0, likely_bytes: 0, high_bytes: 0 }

export const exactly = (bytes: number): Range => range(bytes, bytes, bytes)
/** 256 TiB, more than any machine has: larger figures are capped to it, so that all sums stay exact. */
const MOST_BYTES = 2 ** 48
const whole = (bytes: number): number => Math.min(MOST_BYTES, Math.round(bytes))

/** Rounded to whole bytes, and in order whatever the formulas gave. */
export function range(low: number, likely: number, high: number): Range {
  const likely_bytes = whole(likely)
  return { low_bytes: Math.min(whole(low), likely_bytes), likely_bytes, high_bytes: Math.max(whole(high), likely_bytes) }
}
/** The likely figure with factors to both sides. */
export const around = (likely: number, low: number, high: number): Range => range(likely * low, likely, likely * high)
export const plus = (...ranges: readonly Range[]): Range =>
  ranges.reduce(
    (sum, one) => ({
      low_bytes: sum.low_bytes + one.low_bytes,
      likely_bytes: sum.likely_bytes + one.likely_bytes,
      high_bytes: sum.high_bytes + one.high_bytes,
    }),
    NOTHING,
  )
export const times = ({ low_bytes, likely_bytes, high_bytes }: Range, low: number, likely = low, high = likely): Range =>
  range(low_bytes * low, likely_bytes * likely, high_bytes * high)
export const isNothing = ({ high_bytes }: Range): boolean => high_bytes === 0

export const KIB = 1024
export const MIB = 1024 ** 2
export const GIB = 1024 ** 3
