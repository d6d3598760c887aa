// How long to wait before the next try, and how many messages a minute may have.

const FIRST_MS = 1_000
const LONGEST_MS = 300_000

/** Exponential with jitter, from a second to five minutes, so that a fleet does not come back at once. `failures` counts from 1. */
export function backoffMs(failures: number, random: () => number): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 20))
  return Math.round(FIRST_MS + random() * (ceiling - FIRST_MS))
}

export type Budget = {
  /** ms until a message may go; 0: now. */
  readonly waitMs: (now: number) => number
  readonly take: (now: number) => void
}

/** A bucket of tokens of which never more than `perMinute` can be taken within any minute; a few of them at once. 0: no limit. */
export function createBudget(perMinute: number): Budget {
  if (perMinute === 0) return { waitMs: () => 0, take: () => {} }
  const burst = Math.min(5, Math.ceil(perMinute / 4))
  const perMs = (perMinute - burst + 1) / 60_000
  let tokens = burst
  let at: number | undefined
  const refill = (now: number): void => {
    // A clock set back gives nothing, and costs nothing later.
    tokens = Math.min(burst, tokens + Math.max(0, now - (at ?? now)) * perMs)
    at = now
  }
  return {
    waitMs(now) {
      refill(now)
      // What the sums of fractions lose is no reason to wait; a millisecond's refill is ten thousand times as much.
      return tokens >= 1 - 1e-9 ? 0 : Math.ceil((1 - tokens) / perMs)
    },
    take(now) {
      refill(now)
      tokens -= 1
    },
  }
}
