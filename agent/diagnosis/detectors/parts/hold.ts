// Damping of one subject: a fault counts when it has lasted, and is over when it has been away for long enough. Time without data counts for neither.

export type Held = 'faulty' | 'healthy' | 'unknown'
export type HoldOptions = {
  /** For how long it must be seen faulty before it is one; 0 = at once. */
  readonly forMs: number
  /** For how long it must be seen healthy before it is over; 0 = at once. */
  readonly clearMs: number
  /** More time than this between two looks counts for neither; for judgments of each second less than the default. */
  readonly maxStepMs?: number
}
export type Hold = {
  /** `faulty` is undefined where it cannot be determined. Returns `unknown` until one state has lasted long enough. */
  readonly see: (t: number, faulty: boolean | undefined) => Held
  /** What held last; it outlives missing data. */
  readonly settled: () => Held
  /** At once, without waiting: where the driver itself vouches for it. */
  readonly settle: (state: Held) => void
}

/** More time between two looks is a pause of the agent or a jump of the clock, and counts for neither. The slowest of the watched readings come each 10 s. */
const MAX_STEP_MS = 30_000

export function createHold({ forMs, clearMs, maxStepMs = MAX_STEP_MS }: HoldOptions): Hold {
  let settled: Held = 'unknown'
  let last: boolean | undefined
  let lastT = 0
  let lastedMs = 0
  let heard = false
  return {
    see(t, faulty) {
      if (faulty === undefined) {
        heard = false
        return 'unknown'
      }
      const step = t - lastT
      if (last !== faulty) lastedMs = 0
      else if (heard && step > 0 && step <= maxStepMs) lastedMs += step
      heard = true
      last = faulty
      lastT = t
      const towards: Held = faulty ? 'faulty' : 'healthy'
      if (lastedMs >= (faulty ? forMs : clearMs)) settled = towards
      return settled === towards ? towards : 'unknown'
    },
    settled: () => settled,
    settle(state) {
      settled = state
      last = undefined
      lastedMs = 0
    },
  }
}
