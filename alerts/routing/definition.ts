// What the router decides: who is notified of an incident, when, and together with what.
import type { IncidentSummary } from '../../agent/model/incident.ts'
import type { NotificationEvent, NotificationReason, LastNotification } from '../../agent/model/notification.ts'

export { INCIDENT_LABELS, type IncidentLabel, type QuietHours, type Route } from '../../agent/model/alert-settings.ts'

/** One thing to be put into the outbox. */
export type Plan = {
  readonly notifier: string
  readonly group: string
  readonly event: NotificationEvent
  readonly reason: NotificationReason
  /** Not before this, Unix ms. What was planned of the same incident before and is not sent yet goes no later than this. */
  readonly dueAt: number
}

/** What the router asks of others. */
export type Known = {
  /** What a notifier was last sent about an incident. */
  readonly lastNotification: (incident: string, notifier: string) => LastNotification | undefined
  /** Another incident of the same story; undefined: not known any more. */
  readonly incident: (id: string) => IncidentSummary | undefined
}

export type Router = {
  /**
   * What is to be sent about an incident as it is at `t`. Pure: called when an incident changes, and every few seconds for what fires
   * or was told as firing. Each notifier is planned for at most once, by the first route that names it and fits.
   */
  readonly plan: (incident: IncidentSummary, known: Known, t: number) => readonly Plan[]
}
