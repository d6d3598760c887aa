// Counts what was not taken from probes, by reason; every reason is there from the start, so that the first refusal is seen as an increase.
import { agentProbeRefusalsTotal } from '../../metrics/agent-sources.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries } from '../../model/series.ts'

export const REFUSALS = [
  /** More connections than the agent keeps, in all or at once, or for one process. */
  'too_many_connections',
  'connection_flood',
  'too_many_per_process',
  /** No hello in time, or something else first. */
  'no_hello',
  'line_too_long',
  'bad_json',
  'bad_message',
  /** Reading was paused. */
  'too_fast',
  /** There is no such process, or it is another. */
  'not_owned',
  /** The socket in /tmp belongs to another user than the process. */
  'wrong_owner',
  /** Something in /tmp has a probe's name but is no socket. */
  'not_a_socket',
  /** An OOM of a device that could not be determined. */
  'gpu_unknown',
] as const
export type Refusal = (typeof REFUSALS)[number]

export type Refusals = { readonly add: (reason: Refusal) => void; readonly total: () => number; readonly readings: () => readonly Reading[] }

export function createRefusals(): Refusals {
  const counts = new Map(REFUSALS.map((reason) => [reason, { series: makeSeries(agentProbeRefusalsTotal, { reason }), value: 0 }]))
  let total = 0
  return {
    add(reason) {
      const entry = counts.get(reason)
      if (entry === undefined) return
      entry.value++
      total++
    },
    total: () => total,
    readings: () => [...counts.values()].map(({ series, value }) => ({ series, value })),
  }
}
