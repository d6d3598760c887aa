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

/** Steps of all series of one answer together. An answer of that size is some 25 MB of JSON; without a bound 4,000 processes at 5,000 points are 600 MB. */
export const MAX_ANSWER_STEPS = 1_000_000

/** The answer would hold more than MAX_ANSWER_STEPS. */
export class AnswerTooLargeError extends Error {}

export type HistoryView = {
  /** Throws AnswerTooLargeError where the series that fit have too many steps together. */
  readonly query: (query: HistoryQuery) => readonly HistorySeries[]
}
