// How long a receiver asks to be left alone.

/** A receiver that asks for more is believed to be mistaken. */
const LONGEST_MS = 3_600_000

export const boundedWait = (ms: number): number => Math.min(Math.max(ms, 0), LONGEST_MS)

/** `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), an hour at most; undefined where there is none that can be read. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : boundedWait(ms)
}
