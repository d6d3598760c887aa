// Waits for a condition, never for a time: asks again until it holds, and fails with what was awaited when the deadline passes.
import { setTimeout as delay } from 'node:timers/promises'

export type PollOptions = {
  readonly what: string | (() => string)
  /** At least two minutes: a machine that is busy with other things is no fault. */
  readonly deadlineMs?: number
  /** Without it: soon at first, then after a fifth of the time that was waited, at most 200 ms: an agent that is asked all the time has no time for what is awaited. */
  readonly everyMs?: number
}
const LEAST_MS = 120_000
const [SOON_MS, LATE_MS] = [20, 200]

/** Gives the first answer that is neither undefined nor false. */
export async function poll<T>(ask: () => T | undefined | false | Promise<T | undefined | false>, options: PollOptions): Promise<T> {
  const { what, everyMs } = options
  const deadlineMs = Math.max(LEAST_MS, options.deadlineMs ?? 0)
  const begun = performance.now()
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    const waitedMs = performance.now() - begun
    if (waitedMs > deadlineMs) throw new Error(`waited ${deadlineMs} ms for ${typeof what === 'string' ? what : what()}`)
    await delay(everyMs ?? Math.min(LATE_MS, Math.max(SOON_MS, waitedMs / 5)))
  }
}
