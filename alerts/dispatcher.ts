// The dispatcher: gives each change of an incident to the router, and puts the planned notifications into the outbox; asks the router again about what fires, and after a start about what was missed.
import { summaryOf, type Incident, type IncidentSummary } from '../agent/model/incident.ts'
import type { OutgoingIncident } from '../agent/model/notification.ts'
import type { Outbox } from '../agent/store/outbox.ts'
import type { Delivery } from './delivery/delivery.ts'
import type { Known, Plan, Router } from './routing/definition.ts'

export type DispatcherOptions = {
  readonly router: Router
  readonly outbox: Outbox
  readonly delivery: Pick<Delivery, 'wake' | 'refreshed' | 'refresh'>
  /** An incident whole, with what people said of it until now. */
  readonly get: (id: string) => Incident | undefined
  readonly outgoing: (incident: Incident) => OutgoingIncident
  readonly now?: () => number
}
export type Dispatcher = {
  readonly changed: (incident: IncidentSummary) => void
  /** Once a second; cheap when nothing fires. */
  readonly maintain: (t: number) => void
  /** At the start, before delivery does: those that fire, and those seen lately. */
  readonly recover: (incidents: readonly IncidentSummary[]) => void
}

/** How often the router is asked again about what fires. */
const ASK_EVERY_MS = 5_000
/** So many a second at most, so that a storm does not hold the agent up. */
const SLICE = 200
/** What waits to be sent is brought up to date this often. */
const FRESHEN_MS = 30_000
/** A week after it was resolved nobody waits to hear so, such as after a silence. */
const OVER_MS = 7 * 24 * 3_600_000
/** The tracker holds 500 open at most (diagnosis/incidents/tracker.ts). */
const MOST_WATCHED = 12_000

type Watched = { readonly incident: IncidentSummary; readonly freshAt: number }

/** What routes ask of an incident, without its long texts. */
const lean = (incident: IncidentSummary): IncidentSummary => ({ ...incident, evidence: { log_lines: [] }, remedies: [], consequences: [] })

export function createDispatcher({ router, outbox, delivery, get, outgoing, now = Date.now }: DispatcherOptions): Dispatcher {
  /** What fires, and what is resolved without a notification having been sent to everybody. */
  const watched = new Map<string, Watched>()
  let asking: string[] = []
  let askedAt = Number.NEGATIVE_INFINITY
  const refreshes = new Map<string, { readonly cell: number; readonly ids: string[] }>()

  const known: Known = {
    lastNotification: (incident, notifier) => outbox.lastNotification(notifier, incident),
    incident: (id) => watched.get(id)?.incident ?? current(id),
  }
  const current = (id: string): IncidentSummary | undefined => {
    const whole = get(id)
    return whole === undefined ? undefined : summaryOf(whole)
  }
  const outgoingOf = (incident: IncidentSummary): OutgoingIncident => {
    const evidence = get(incident.id)?.evidence ?? { ...incident.evidence, series: [], processes: [] }
    return outgoing({ ...incident, evidence })
  }
  const tell = (incident: IncidentSummary, plans: readonly Plan[], t: number): void => {
    outbox.put(outgoingOf(incident), plans, t)
    for (const { notifier } of plans) delivery.wake(notifier)
  }
  const watch = (incident: IncidentSummary, freshAt: number): void => {
    watched.delete(incident.id)
    if (incident.status === 'resolved' && !outbox.isNotifiedFiring(incident.id)) return
    watched.set(incident.id, { incident: lean(incident), freshAt })
    const oldest = watched.size > MOST_WATCHED ? watched.keys().next().value : undefined
    if (oldest !== undefined) watched.delete(oldest)
  }
  const changed = (incident: IncidentSummary): void => {
    if (incident.status === 'pending') return
    const t = now()
    const plans = router.plan(incident, known, t)
    let freshAt = watched.get(incident.id)?.freshAt ?? t
    if (plans.length > 0) {
      tell(incident, plans, t)
      freshAt = t
    } else if (incident.status === 'firing' && Math.abs(t - freshAt) >= FRESHEN_MS) {
      if (outbox.awaited(incident.id)) outbox.freshen(outgoingOf(incident))
      freshAt = t
    }
    watch(incident, freshAt)
  }
  const askAgain = (id: string, t: number): void => {
    const seen = watched.get(id)?.incident
    if (seen === undefined) return
    const over = seen.status === 'resolved'
    if (over && t - (seen.resolved_at ?? seen.last_seen_at) > OVER_MS) {
      outbox.forget(id)
      watched.delete(id)
      return
    }
    // Nobody tells when the silence of something that is over ends.
    const incident = over && seen.silenced !== undefined ? (current(id) ?? seen) : seen
    const plans = router.plan(incident, known, t)
    if (plans.length === 0) return
    const whole = current(id) ?? incident
    tell(whole, plans, t)
    watch(whole, t)
  }
  const askSome = (t: number): void => {
    if (asking.length === 0 && Math.abs(t - askedAt) >= ASK_EVERY_MS) {
      askedAt = t
      asking = [...watched.keys()]
    }
    for (const id of asking.splice(0, SLICE)) askAgain(id, t)
  }
  /** On a grid of time, so that all that fires goes together. */
  const refreshSome = (notifier: string, everyMs: number, t: number): void => {
    const cell = Math.floor(t / everyMs)
    const isDue = (id: string): boolean => {
      const last = outbox.lastNotification(notifier, id)
      return last?.event === 'firing' && Math.abs(t - last.at) >= everyMs / 2
    }
    let queue = refreshes.get(notifier)
    if (queue?.cell !== cell) refreshes.set(notifier, (queue = { cell, ids: [...watched.keys()].filter(isDue) }))
    if (queue.ids.length === 0) return
    const incidents = queue.ids.splice(0, SLICE).flatMap((id) => current(id) ?? [])
    delivery.refresh(notifier, incidents.filter(({ status }) => status === 'firing').map(outgoingOf))
  }

  return {
    changed,
    maintain(t) {
      outbox.maintain(t)
      askSome(t)
      for (const [notifier, everyMs] of delivery.refreshed) refreshSome(notifier, everyMs, t)
    },
    recover(incidents) {
      for (const incident of incidents.toSorted((a, b) => a.started_at - b.started_at)) changed(incident)
      for (const id of outbox.notifiedFiring()) {
        if (watched.has(id)) continue
        const incident = current(id)
        if (incident === undefined) outbox.forget(id)
        else changed(incident)
      }
    },
  }
}
