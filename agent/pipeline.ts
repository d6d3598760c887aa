// The one path. An event goes to the stores, then to the diagnosis, then to the outputs; the incidents that it changes are kept, then published to the outputs.
// Synchronous; time comes from the event.
import type { Event } from './model/event.ts'
import type { Incident, IncidentSummary } from './model/incident.ts'
import type { TakesEvents, TakesIncidents, TakesTicks } from './model/sink.ts'
import type { Log } from './model/source.ts'
import { stackOf } from './text/error.ts'

/** Evaluates events. */
export type DiagnosisStage = {
  readonly name: string
  /** The incidents that fired, changed or were resolved by this event, each as it stood then. */
  readonly ingest: (event: Event) => readonly Incident[]
  /** Those that have changed since the last tick. */
  readonly flush: () => readonly Incident[]
}
/** Stands between the diagnosis and the outputs. */
export type IncidentStage = {
  readonly name: string
  /** Keeps an incident, and returns it as the outputs get it. */
  readonly keep: (incident: Incident) => IncidentSummary
}

/** Every part that takes something from the pipeline, in the order in which it does. */
export type Stages = {
  readonly stores: readonly TakesEvents[]
  readonly diagnosis: DiagnosisStage
  readonly incidents: IncidentStage
  readonly outputs: {
    readonly events: readonly TakesEvents[]
    readonly incidents: readonly TakesIncidents[]
  }
  readonly ticks: readonly TakesTicks[]
}

export type Pipeline = {
  readonly ingest: (event: Event) => void
  /** Publishes incidents to the outputs again, after they were silenced, acknowledged or resolved by a user. */
  readonly publish: (incidents: readonly IncidentSummary[]) => void
  /** Notifies all parts that the scrapes of the tick `t` are complete. */
  readonly tick: (t: number) => void
  /** Publishes what has changed since the last tick. Call at the end. */
  readonly flush: () => void
  /** How often each part threw; what it was given went on to the others. */
  readonly failures: () => ReadonlyMap<string, number>
}

export function createPipeline({ stores, diagnosis, incidents, outputs, ticks }: Stages, log: Log): Pipeline {
  const failures = new Map<string, number>()
  const failed = (name: string, on: string, error: unknown): void => {
    const count = (failures.get(name) ?? 0) + 1
    failures.set(name, count)
    // Powers of ten: the first failure is logged at once, a storm of them does not fill the log.
    if (/^10*$/.test(String(count))) log.error(`${name} failed on ${on} (${count} so far): ${stackOf(error)}`)
  }
  const guarded = (name: string, on: string, run: () => void): void => {
    try {
      run()
    } catch (error) {
      failed(name, on, error)
    }
  }
  /** Some thirty times a second to a dozen parts, so without a function made for each. */
  const give = (part: TakesEvents, event: Event): void => {
    try {
      part.ingest(event)
    } catch (error) {
      failed(part.name, 'an event', error)
    }
  }
  const publish = (incident: IncidentSummary): void => {
    for (const output of outputs.incidents) guarded(output.name, 'an incident', () => output.incident(incident))
  }
  const changed = (all: readonly Incident[]): void => {
    for (const incident of all) guarded(incidents.name, 'an incident', () => publish(incidents.keep(incident)))
  }
  const judged: TakesEvents = { name: diagnosis.name, ingest: (event) => changed(diagnosis.ingest(event)) }
  return {
    ingest(event) {
      for (const store of stores) give(store, event)
      give(judged, event)
      for (const output of outputs.events) give(output, event)
    },
    publish: (all) => all.forEach(publish),
    tick(t) {
      for (const part of ticks) guarded(part.name, 'a tick', () => part.tick(t))
    },
    flush: () => guarded(diagnosis.name, 'its last changes', () => changed(diagnosis.flush())),
    failures: () => failures,
  }
}
