// How exactly history keeps a number: integers exactly, fractions to six decimals (nine below 0.01).

/**
 * A ratio from a division carries 50 bits of noise that would cost eight bytes a second for nothing.
 * Integers, and fractions below 1e-4, are kept as they are; above 5e8 fractions are kept to three decimals.
 */
export function quantize(value: number): number {
  if (Number.isInteger(value)) return value === 0 ? 0 : value // no negative zero
  const magnitude = Math.abs(value)
  if (magnitude < 1e-4) return value
  if (magnitude < 0.01) return Math.round(value * 1e9) / 1e9
  if (magnitude < 5e8) return Math.round(value * 1e6) / 1e6
  return Math.round(value * 1e3) / 1e3
}
