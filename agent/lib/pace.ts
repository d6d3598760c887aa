// How often timers run: at their own period, or less often while there is nothing to see. Each wake-up of an idle process costs as much as the work in it.

/** While slow, a task runs at the multiple of this that is not shorter than its period. Below the 5 s after which `/readyz` and the detectors call readings late. */
const STRIDE_MS = 4_000
/** Tasks as rare as this keep their period. */
const RARE_MS = 30_000
/** After the last thing that happened, and after the start. */
const QUIET_MS = 60_000
/** What is read at the slowest stretched period must outlive it. */
const OUTLIVES_MS = 13_000

export type Pace = {
  /** The period of a task now; `slowMs`: of one that has a slow period of its own. */
  readonly periodOf: (periodMs: number, slowMs?: number) => number
  /** How long a reading holds now. */
  readonly ttlOf: (ttlMs: number) => number
  readonly isSlow: () => boolean
  /** Something happened at `t`: the full pace from now on, for a minute at least. */
  readonly wake: (t: number) => void
  /** To be called now and then: slows down once nothing has happened for a minute. */
  readonly look: (t: number) => void
  /** `run` is called after each change of the pace. */
  readonly watch: (run: () => void) => void
}

/** `isNeeded`: whether anything on this host needs the full pace. */
export function createPace(isNeeded: () => boolean): Pace {
  const watchers: (() => void)[] = []
  let slow = false
  let busyAt: number | undefined
  const change = (next: boolean): void => {
    if (slow === next) return
    slow = next
    for (const run of watchers) run()
  }
  return {
    periodOf(periodMs, slowMs) {
      if (!slow || periodMs >= RARE_MS) return periodMs
      return slowMs ?? Math.ceil(periodMs / STRIDE_MS) * STRIDE_MS
    },
    ttlOf: (ttlMs) => (slow ? Math.max(ttlMs, OUTLIVES_MS) : ttlMs),
    isSlow: () => slow,
    wake(t) {
      busyAt = t
      change(false)
    },
    look(t) {
      if (isNeeded()) busyAt = t
      // Also a clock that was set back begins the minute again.
      busyAt = busyAt === undefined || busyAt > t ? t : busyAt
      change(t - busyAt >= QUIET_MS)
    },
    watch: (run) => void watchers.push(run),
  }
}
