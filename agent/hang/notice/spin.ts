// A GPU that is busy by its counter and idle by its power and memory traffic: a kernel that waits for others, as in a collective that
// one rank has not joined. Compared with what the same GPU drew when it worked, since powers differ by model. Pure.

export type GpuLoad = {
  /** 0 to 1. */
  readonly busy: number
  readonly memory: number
  readonly watts?: number | undefined
  readonly limitWatts?: number | undefined
}
export type SpinWatch = {
  /** Whether it spins now, since when (Unix ms), and its least memory traffic since then; undefined where that cannot be known. */
  readonly see: (t: number, load: GpuLoad) => { readonly spins: boolean; readonly since: number; readonly memory: number } | undefined
  /** How long it has computed since it was first seen, ms. */
  readonly worked: () => number
}

/** A waiting NCCL kernel counts as 100 % and touches no memory. */
const SPIN_BUSY = 0.95
const SPIN_MEMORY = 0.02
const WORK_MEMORY = 0.05
const WORK_BUSY = 0.3
/** Of the power at work, else of the limit: H100s that hang draw 100 to 152 of 700 W, and 500 to 690 at work (NeMo #9291, nccl#1550). */
const SPIN_POWER = 0.55
const SPIN_LIMIT = 0.3
/** A short wait is part of every step. */
const LEAST_MS = 10_000
/** The power at work follows what the GPU does now within some minutes. */
const FORGETS = 0.02
const MOST_STEP_MS = 30_000

export function createSpinWatch(): SpinWatch {
  let work: number | undefined
  let worked = 0
  let seen: number | undefined
  let since: number | undefined
  /** One look alone may show 0 or 1 % for the same wait. */
  let least = Number.POSITIVE_INFINITY
  return {
    see(t, { busy, memory, watts, limitWatts }) {
      const passed = seen === undefined ? 0 : Math.min(MOST_STEP_MS, Math.max(0, t - seen))
      seen = t
      if (busy >= WORK_BUSY && memory >= WORK_MEMORY) {
        worked += passed
        if (watts !== undefined) work = work === undefined ? watts : work + (watts - work) * FORGETS
      }
      if (watts === undefined || (work === undefined && limitWatts === undefined)) {
        since = undefined
        return undefined
      }
      const most = work === undefined ? SPIN_LIMIT * (limitWatts ?? 0) : SPIN_POWER * work
      if (busy < SPIN_BUSY || memory > SPIN_MEMORY || watts > most) since = undefined
      else since ??= t
      least = since === undefined ? Number.POSITIVE_INFINITY : Math.min(least, memory)
      return { spins: since !== undefined && t - since >= LEAST_MS, since: since ?? t, memory: Math.min(least, memory) }
    },
    worked: () => worked,
  }
}
