// Incidents on their way to the receiver: each sent once when it fires and once when it is resolved; a bounded number wait, and the oldest are dropped first.
import type { IncidentSummary } from '../../model/incident.ts'
import type { IncidentEvent } from './records.ts'

export type Waiting = { readonly incident: IncidentSummary; readonly event: IncidentEvent }

export type IncidentQueue = {
  /** Takes every change of an incident; most are no news. */
  readonly put: (incident: IncidentSummary) => void
  /** Takes out the oldest; they come back by `putBack` when they were not delivered. */
  readonly take: (most: number) => readonly Waiting[]
  readonly putBack: (taken: readonly Waiting[]) => void
  readonly waiting: () => number
  /** Dropped because too many waited. */
  readonly dropped: () => number
}

/** An hour of a host that raises one each four seconds; each is a few kilobytes. */
const MOST_WAITING = 1_000
/** Incidents whose last report is remembered. */
const MAX_REPORTED = 10_000

/** `known`: ids of incidents that fired before this start; the agent that ran then reported them. */
export function createIncidentQueue(known: Iterable<string>, most = MOST_WAITING): IncidentQueue {
  let queue: Waiting[] = []
  let dropped = 0
  const reported = new Map<string, IncidentEvent>(Array.from(known, (id) => [id, 'firing']))

  const bound = (): void => {
    const over = queue.length - most
    if (over <= 0) return
    queue.splice(0, over)
    dropped += over
  }
  return {
    put(incident) {
      const { id, status } = incident
      const before = reported.get(id)
      // A resolved one that was never reported is an old one that was silenced or acknowledged.
      const news = (status === 'firing' && before === undefined) || (status === 'resolved' && before === 'firing')
      if (!news) return
      queue.push({ incident, event: status })
      reported.delete(id)
      reported.set(id, status)
      for (const oldest of reported.keys()) {
        if (reported.size <= MAX_REPORTED) break
        reported.delete(oldest)
      }
      bound()
    },
    take: (many) => queue.splice(0, many),
    putBack(taken) {
      queue = [...taken, ...queue]
      bound()
    },
    waiting: () => queue.length,
    dropped: () => dropped,
  }
}
