// The time as delivery sees it: what o'clock it is, and waking up later; tests bring their own.

export type Clock = {
  /** Unix ms. */
  readonly now: () => number
  /** Runs once after so many ms, whatever the wall clock does meanwhile; the answer takes it back. */
  readonly after: (ms: number, run: () => void) => () => void
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
