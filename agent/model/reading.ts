// What a source saw: readings, and gaps where it could not see.
import type { Labels, Series } from './series.ts'

/** A finite number for a series at the time of its scrape. There is no stand-in for unknown: that is a gap. */
export type Reading = { readonly series: Series; readonly value: number }

export const GAP_REASONS = ['not_supported', 'no_permission', 'gpu_lost', 'reset_required', 'timeout', 'driver_error', 'parse_error'] as const
export type GapReason = (typeof GAP_REASONS)[number]

/** What could not be read, and why. `metric` is a metric's name, or a source's id when the whole source is silent. */
export type Gap = {
  readonly metric: string
  readonly labels: Labels
  readonly reason: GapReason
  /** The native code behind the reason: an NVML return code, an errno, an HTTP status. */
  readonly code?: number
  /** One sentence for a person: what was expected, what came. */
  readonly detail?: string
}
