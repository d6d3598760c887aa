// How readers ask for the past; what the store behind it looks like is its own affair.
import type { Labels } from '../model/series.ts'

export type HistoryQuery = {
  /** Full metric name. */
  readonly metric: string
  /** Only series whose labels carry these values. */
  readonly labels: Labels
  /** Unix ms, inclusive. */
  readonly from: number
  readonly to: number
  /** At most this many points; the store chooses the step. */
  readonly points: number
}

/** One series as equal steps; null where there was no reading in a step. All arrays are of the same length; `t` are the steps' starts in Unix ms. */
export type HistorySeries = {
  readonly metric: string
  readonly labels: Labels
  readonly step_ms: number
  readonly t: readonly number[]
  readonly min: readonly (number | null)[]
  readonly mean: readonly (number | null)[]
  readonly max: readonly (number | null)[]
}

export type HistoryView = { readonly query: (query: HistoryQuery) => readonly HistorySeries[] }
