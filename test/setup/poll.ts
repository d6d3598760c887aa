// Waits for a condition, never for a time: asks again until it holds, and fails with what was awaited when the deadline passes.
import { setTimeout as delay } from 'node:timers/promises'

export type PollOptions = {
  readonly what: string | (() => string)
  /** At least two minutes: a machine that is busy with other things is no fault. */
  readonly deadlineMs?: number
  readonly everyMs?: number
}
const LEAST_MS = 120_000

/** Gives the first answer that is neither undefined nor false. */
export async function poll<T>(ask: () => T | undefined | false | Promise<T | undefined | false>, options: PollOptions): Promise<T> {
  const { what, everyMs = 20 } = options
  const deadlineMs = Math.max(LEAST_MS, options.deadlineMs ?? 0)
  const until = performance.now() + deadlineMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > until) throw new Error(`waited ${deadlineMs} ms for ${typeof what === 'string' ? what : what()}`)
    await delay(everyMs)
  }
}
