// What a detector remembers of each GPU, and when it says healthy: once for each turn to health, not in each second.
import type { TypedFinding, Healthy } from '../../../model/finding.ts'

export type PerGpu<State> = { readonly of: (uuid: string) => State }

/** More GPUs than any host has: UUIDs that come and go must not pile up. */
const MAX_GPUS = 1_024

export function createPerGpu<State>(make: (uuid: string) => State): PerGpu<State> {
  const states = new Map<string, State>()
  return {
    of(uuid) {
      let state = states.get(uuid)
      if (state === undefined) {
        if (states.size >= MAX_GPUS) for (const oldest of states.keys()) if (states.delete(oldest)) break
        states.set(uuid, (state = make(uuid)))
      }
      return state
    },
  }
}

/** Reports a turn to health once, not in each second. */
export type FindingDeduper = {
  /** Adds what holds now to the findings: a fault each time, with its newest figures; health when it begins. */
  readonly faulty: (found: TypedFinding[], finding: TypedFinding) => void
  readonly healthy: (found: TypedFinding[], why?: string) => void
}

/** Health is reported the first time too: an incident from before a restart of the agent waits for it. */
export function createFindingDeduper(said: Omit<Healthy, 'state' | 'why'>): FindingDeduper {
  let isHealthy = false
  return {
    faulty(found, finding) {
      isHealthy = false
      found.push(finding)
    },
    healthy(found, why) {
      if (isHealthy) return
      isHealthy = true
      found.push({ ...said, state: 'healthy', ...(why === undefined ? {} : { why }) })
    },
  }
}
