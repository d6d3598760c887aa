// Waits for a condition, never for a time: asks again until it holds, and fails with what was awaited when the deadline passes.
import { setTimeout as delay } from 'node:timers/promises'

export type PollOptions = { readonly what: string | (() => string); readonly deadlineMs?: number; readonly everyMs?: number }

/** Gives the first answer that is neither undefined nor false. */
export async function poll<T>(ask: () => T | undefined | false | Promise<T | undefined | false>, options: PollOptions): Promise<T> {
  const { what, deadlineMs = 10_000, everyMs = 20 } = options
  const until = performance.now() + deadlineMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > until) throw new Error(`waited ${deadlineMs} ms for ${typeof what === 'string' ? what : what()}`)
    await delay(everyMs)
  }
}
