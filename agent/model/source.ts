// What a source is: something outside that is watched and turned into events.
import type { Event } from './event.ts'
import type { MetricDef } from './metric.ts'

export type Log = {
  /** For whoever looks for the cause of something; absent while it is switched off: `log.debug?.(…)`. */
  readonly debug?: ((text: string) => void) | undefined
  /** The operator need not act. */
  readonly info: (text: string) => void
  /** Something is missing or degraded; the rest goes on. */
  readonly warn: (text: string) => void
  /** The operator must act. */
  readonly error: (text: string) => void
}

/**
 * Runs `run` at whole multiples of the period of the wall clock and hands it that time; a run still going when the next is due is not doubled.
 * On a host where there is nothing to see (`agent/lib/pace.ts`) the period is longer, or `slowMs`: for what must be noticed soon all the same.
 * With `phaseMs` so long after each of these times.
 */
export type Every = (periodMs: number, run: (t: number) => void | Promise<void>, slowMs?: number, phaseMs?: number) => () => void

export type SourceContext = {
  readonly emit: (event: Event) => void
  readonly every: Every
  readonly log: Log
}

export type Source = {
  readonly id: string
  readonly metrics: readonly MetricDef[]
  /** Resolves when the first scrape was asked for; a source that cannot work says so by gaps and the log, it does not throw. */
  readonly start: (context: SourceContext) => void | Promise<void>
  readonly stop: () => void | Promise<void>
}
