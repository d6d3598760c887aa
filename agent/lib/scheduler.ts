// Timers on the wall clock's grid, so that the samples of all sources carry the same times.
import type { Every, Log } from '../model/source.ts'
import { stackOf } from '../text/error.ts'
import type { Pace } from './pace.ts'

/** More than a timer of Node's fires early. */
const EARLY_MS = 100

/** Parts have their tick this long after a second begins, when the scrapes of that second have come in. */
export const TICK_PHASE_MS = 250

export type Scheduler = { readonly every: Every; readonly stop: () => void }

/**
 * Runs tasks at multiples of their period (plus `ownPhaseMs`, or the task's own). A task still running when its next time comes is skipped, not doubled;
 * a clock that jumps backwards or forwards moves the grid, it does not pile up runs. With a `pace` the period is the one that it gives now.
 */
export function createScheduler(log: Log, ownPhaseMs = 0, pace?: Pace): Scheduler {
  const stops = new Set<() => void>()
  const rearms = new Set<() => void>()
  pace?.watch(() => rearms.forEach((rearm) => rearm()))
  const failed = (error: unknown): void => log.error(`a scheduled task failed: ${stackOf(error)}`)

  const every: Every = (ownMs, run, slowMs, phaseMs = ownPhaseMs) => {
    let timer: NodeJS.Timeout | undefined
    let periodMs = ownMs
    let busy = false
    let stopped = false
    let last = Number.NEGATIVE_INFINITY
    const arm = (): void => {
      clearTimeout(timer)
      periodMs = pace?.periodOf(ownMs, slowMs) ?? ownMs
      const now = Date.now()
      let due = (Math.floor((now - phaseMs) / periodMs) + 1) * periodMs
      // Node's timers may fire a millisecond early: the point of the grid that has just run must not run twice.
      if (due === last) due += periodMs
      timer = setTimeout(fire, due + phaseMs - now, due)
    }
    const start = (due: number): void => {
      busy = true
      try {
        const result = run(due)
        if (result instanceof Promise) void result.catch(failed).finally(() => (busy = false))
        else busy = false
      } catch (error) {
        busy = false
        failed(error)
      }
    }
    const fire = (armedFor: number): void => {
      const now = Date.now()
      const lateMs = now - phaseMs - armedFor
      // The clock was set, or this process stood still: what is read now must not carry the time of then.
      const due = lateMs < -EARLY_MS || lateMs >= periodMs ? Math.floor((now - phaseMs) / periodMs) * periodMs : armedFor
      last = due
      if (!busy) start(due)
      if (!stopped) arm()
    }
    arm()
    rearms.add(arm)
    const stop = (): void => {
      stopped = true
      clearTimeout(timer)
      stops.delete(stop)
      rearms.delete(arm)
    }
    stops.add(stop)
    return stop
  }
  return {
    every,
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}
