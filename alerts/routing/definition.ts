// What a route is, and what the router decides: who is told of an incident, when, and together with what.
import type { Severity } from '../../agent/model/fault.ts'
import type { IncidentSummary } from '../../agent/model/incident.ts'
import type { NotificationEvent, NotificationReason, ToldState } from '../../agent/model/notification.ts'

/** What a route can ask of an incident; a part that the incident does not know matches nothing. */
export const INCIDENT_LABELS = [
  'kind',
  'severity',
  'gpu',
  'uuid',
  'gpu_name',
  'container',
  'container_id',
  'image',
  'namespace',
  'pod',
  'process',
  'target',
  'name',
] as const
export type IncidentLabel = (typeof INCIDENT_LABELS)[number]

/** A span of each chosen day; over midnight where `to` is not after `from`. */
export type QuietHours = {
  /** Minutes since midnight in `zone`. */
  readonly from: number
  readonly to: number
  /** 0 is Sunday; the day on which the span begins. */
  readonly days: readonly number[]
  /** An IANA name; undefined: the host's. */
  readonly zone?: string
  /** What is told even then: this severity and worse; undefined: nothing is. */
  readonly except?: Severity
}

export type Route = {
  /** Names of notifiers. */
  readonly to: readonly string[]
  /** All must fit; of each label's patterns one. `*` stands for any text. */
  readonly match: Readonly<Partial<Record<IncidentLabel, readonly string[]>>>
  /** Incidents that agree in these go into one message; without any, all of the host do. */
  readonly groupBy: readonly IncidentLabel[]
  /** How long others are waited for before the first message of a group. */
  readonly waitMs: number
  /** How often what still fires is told again; undefined: never. */
  readonly repeatMs?: number
  readonly quiet: readonly QuietHours[]
  /** Whether it is told when an incident is over. */
  readonly resolved: boolean
}

/** One thing to be put into the outbox. */
export type Plan = {
  readonly notifier: string
  readonly group: string
  readonly event: NotificationEvent
  readonly reason: NotificationReason
  /** Not before this, Unix ms. */
  readonly dueAt: number
}

export type Router = {
  /**
   * What is to be told of an incident as it stands at `t`. Pure: called when an incident changes, and every few seconds for what fires.
   * `told` gives what a notifier was told before. Each notifier is planned for at most once, by the first route that names it and fits.
   */
  readonly plan: (incident: IncidentSummary, told: (notifier: string) => ToldState | undefined, t: number) => readonly Plan[]
}
