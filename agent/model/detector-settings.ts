// What a user may set of the detectors: on or off, their figures, and thresholds of the user's own.
import type { Severity } from './severity.ts'
import type { Labels } from './series.ts'

/** By the detector's id; what is not set has its default. */
export type DetectorSettings = Readonly<Record<string, { readonly enabled?: boolean; readonly options?: Readonly<Record<string, number>> }>>

export const COMPARISONS = ['>', '>=', '<', '<='] as const
export type Comparison = (typeof COMPARISONS)[number]

/** One of `detectors.custom`: a bound on each series of a metric. */
export type CustomThreshold = {
  readonly name: string
  /** Its full name. */
  readonly metric: string
  /** Those that a series must carry to be meant. */
  readonly labels: Labels
  readonly comparison: Comparison
  readonly value: number
  /** For how long it must hold before an incident is raised. */
  readonly forMs: number
  /** For how long it must not hold before it is over. */
  readonly clearMs: number
  readonly severity: Severity
  readonly summary?: string
}

export type DetectorsConfig = { readonly settings: DetectorSettings; readonly custom: readonly CustomThreshold[] }
