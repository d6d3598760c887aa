// Waiting longer from try to try, and starting over after a while of health. Pure: the caller brings the time.

export type BackoffOptions = {
  /** Waits in order; the last one repeats. */
  readonly delaysMs: readonly number[]
  /** This long without a failure, and the next one counts as the first again. */
  readonly healthyMs: number
}

export type Backoff = {
  /** How long to wait before the next try, after something failed at `nowMs` that had worked for `workedMs`. */
  readonly fail: (workedMs: number) => number
  readonly reset: () => void
}

/** `first`, doubled up to `max`. */
export function doubling(firstMs: number, maxMs: number): readonly number[] {
  const delays: number[] = []
  for (let delay = firstMs; delay < maxMs; delay *= 2) delays.push(delay)
  delays.push(maxMs)
  return delays
}

export function createBackoff({ delaysMs, healthyMs }: BackoffOptions): Backoff {
  let failures = 0
  return {
    fail(workedMs) {
      if (workedMs >= healthyMs) failures = 0
      const delay = delaysMs[Math.min(failures, delaysMs.length - 1)] ?? 0
      failures++
      return delay
    },
    reset: () => (failures = 0),
  }
}
