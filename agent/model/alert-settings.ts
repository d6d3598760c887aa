// What a user sets for alerts: who is notified (notifiers), of what and when (routes).
import type { Severity } from './severity.ts'

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

/** What a route can ask of a run that has ended. A route that names `outcome` is about runs alone, all others are about incidents alone. */
export const RUN_LABELS = ['outcome', 'job', 'user', 'container', 'image', 'namespace'] as const
export type RunLabel = (typeof RUN_LABELS)[number]

/** What a route can ask of a summary of waste: which one, and of whose use. A route that names `waste` is about summaries alone. */
export const WASTE_LABELS = ['waste', 'user'] as const
export type WasteLabel = (typeof WASTE_LABELS)[number]

/** A span of each chosen day; over midnight where `to` is not after `from`. */
export type QuietHours = {
  /** Minutes since midnight by the clock of `zone`. */
  readonly from: number
  readonly to: number
  /** 0 is Sunday; the day on which the span begins. */
  readonly days: readonly number[]
  /** An IANA name; undefined: the host's. */
  readonly zone?: string
  /** Still notified then: this severity and worse; undefined: none. */
  readonly except?: Severity
}

export type Route = {
  /** Names of notifiers. */
  readonly to: readonly string[]
  /** All must fit; of each label's patterns one. `*` means any text. */
  readonly match: Readonly<Partial<Record<IncidentLabel | RunLabel | WasteLabel, readonly string[]>>>
  /** Incidents that agree in these go into one message; without any, all of the host do. */
  readonly groupBy: readonly IncidentLabel[]
  /** How long others are waited for before the first message of a group. */
  readonly waitMs: number
  /** How often a notification repeats while the incident fires; undefined: never. */
  readonly repeatMs?: number
  readonly quiet: readonly QuietHours[]
  /** Whether a resolved incident is notified. */
  readonly resolved: boolean
}

export const isRunRoute = ({ match }: Pick<Route, 'match'>): boolean => match.outcome !== undefined
export const isWasteRoute = ({ match }: Pick<Route, 'match'>): boolean => match.waste !== undefined
export const isIncidentRoute = (route: Pick<Route, 'match'>): boolean => !isRunRoute(route) && !isWasteRoute(route)

/** One notifier, judged against its type's declaration. */
export type NotifierConfig = {
  readonly name: string
  readonly type: string
  /** Every option of its type and those that all have, secrets in clear: never to be shown. */
  readonly options: Readonly<Record<string, unknown>>
  /** The options that were set, as they may be printed. */
  readonly shown: Readonly<Record<string, unknown>>
  /** Its type has no message for a run that has ended, nor for a summary. */
  readonly takesRuns?: false
}
