// How long to wait before the next attempt to connect.

const FIRST_MS = 500
const LONGEST_MS = 15_000

/** Doubles from half a second to 15 s; the random part (up to a quarter) keeps many tabs from returning in the same instant. */
export function retryDelayMs(attempt: number, random: () => number = Math.random): number {
  const base = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10))
  return Math.round(base * (0.75 + random() * 0.25))
}
