// What an output of the agent is, and which of the three things that pass through the pipeline it takes: events, ticks, incidents.
import type { Event } from './event.ts'
import type { IncidentSummary } from './incident.ts'

/** Takes every event: stores, and outputs that keep events. Must not block; where it throws, the failure is counted and the others go on. */
export type TakesEvents = { readonly name: string; readonly ingest: (event: Event) => void }
/** Is called once a second (each four seconds on a host where there is nothing to see), after the scrapes of that second have come in. `t` is the tick's time, Unix ms. */
export type TakesTicks = { readonly name: string; readonly tick: (t: number) => void }
/** Takes each change of an incident, with what people said of it. */
export type TakesIncidents = { readonly name: string; readonly incident: (incident: IncidentSummary) => void }

/** Something outside that the agent writes to. It takes what its roles say (`Sink & TakesTicks`); one that falls behind drops and counts. */
export type Sink = {
  readonly name: string
  readonly dropped: () => number
  readonly close: () => void | Promise<void>
}
