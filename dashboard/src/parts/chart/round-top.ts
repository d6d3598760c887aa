// The round numbers at which scales end. Pure.

/** Of each the half is a short number as well. */
const ROUND = [1, 2, 3, 4, 6, 8, 10] as const

/** The least round number that is not below. */
export function roundTop(value: number, base: 10 | 1024 = 10): number {
  if (!(value > 0)) return 1
  // Bytes are told in KiB, MiB and GiB, and within those in decimals.
  const unit = base === 1024 ? 1024 ** Math.floor(Math.log(value) / Math.log(1024)) : 1
  const power = unit * 10 ** Math.floor(Math.log10(value / unit))
  return power * (ROUND.find((step) => step * power >= value * (1 - 1e-9)) ?? 10)
}
