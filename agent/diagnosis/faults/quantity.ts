// Amounts of memory as programs print them.

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  byte: 1,
  bytes: 1,
  k: 2 ** 10,
  kb: 2 ** 10,
  kib: 2 ** 10,
  m: 2 ** 20,
  mb: 2 ** 20,
  mib: 2 ** 20,
  g: 2 ** 30,
  gb: 2 ** 30,
  gib: 2 ** 30,
  t: 2 ** 40,
  tb: 2 ** 40,
  tib: 2 ** 40,
}

/** A pattern for an amount with its unit: two groups. `12.50 GiB`, `12.50GiB`, `0 bytes`. */
export const SIZE = String.raw`(\d[\d,]{0,20}(?:\.\d{1,9})?) ?(bytes|byte|[KMGT]i?B|[KMGT](?![\w])|B(?![\w]))`

/** NVML's "not available" (2^64 - 1) as PyTorch formats it, 17179869184.00 GiB, and everything else no GPU has. */
const IMPOSSIBLE_BYTES = 2 ** 60

/** Programs print powers of 1024 under all these names; undefined when it is no amount or an impossible one. */
export function bytesOf(amount: string | undefined, unit: string | undefined): number | undefined {
  if (amount === undefined) return undefined
  const factor = FACTORS[(unit ?? '').toLowerCase()]
  const value = Number(amount.replaceAll(',', ''))
  if (factor === undefined || !Number.isFinite(value)) return undefined
  const bytes = Math.round(value * factor)
  return bytes >= 0 && bytes < IMPOSSIBLE_BYTES ? bytes : undefined
}

/** The amount that `pattern` finds in its first two groups. */
export function sizeIn(text: string, pattern: RegExp): number | undefined {
  const match = pattern.exec(text)
  return match === null ? undefined : bytesOf(match[1], match[2])
}

export function integerIn(text: string, pattern: RegExp): number | undefined {
  const match = pattern.exec(text)
  if (match?.[1] === undefined) return undefined
  const value = Number(match[1].replaceAll(',', ''))
  return Number.isSafeInteger(value) ? value : undefined
}
