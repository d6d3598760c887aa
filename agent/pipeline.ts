// The one path of every event: ingest it into the stores and hand it to the sinks. Synchronous; time comes from the event.
import type { Event } from './model/event.ts'
import type { Log } from './model/source.ts'
import type { Sink } from './model/sink.ts'
import { stackOf } from './text/error.ts'

/** A part of the agent that takes events in: latest values, history, detectors. */
export type Consumer = { readonly name: string; readonly ingest: (event: Event) => void }

export type Pipeline = {
  readonly ingest: (event: Event) => void
  /** Tells the sinks that the scrapes of the tick `t` have come in. */
  readonly tick: (t: number) => void
  /** How often each consumer threw; the event went on to the others. */
  readonly failures: () => ReadonlyMap<string, number>
}

export function createPipeline(consumers: readonly Consumer[], sinks: readonly Sink[], log: Log): Pipeline {
  const failures = new Map<string, number>()
  const failed = (name: string, error: unknown): void => {
    const count = (failures.get(name) ?? 0) + 1
    failures.set(name, count)
    // Powers of ten: the first failure is told at once, a storm of them does not fill the log.
    if (/^10*$/.test(String(count))) log.error(`${name} failed on an event (${count} so far): ${stackOf(error)}`)
  }
  const guarded = (name: string, run: () => void): void => {
    try {
      run()
    } catch (error) {
      failed(name, error)
    }
  }
  return {
    ingest(event) {
      for (const consumer of consumers) guarded(consumer.name, () => consumer.ingest(event))
      for (const sink of sinks) if (sink.accepts(event)) guarded(sink.name, () => sink.write(event))
    },
    tick(t) {
      for (const sink of sinks) if (sink.tick) guarded(sink.name, () => sink.tick?.(t))
    },
    failures: () => failures,
  }
}
