// What a detector says about one subject at one time: faulty, healthy or unknown.
import type { Remedy } from './fault.ts'
import type { Severity } from './severity.ts'
import type { Facts } from './facts.ts'
import type { DetectedKind, FactsOf } from './kinds.ts'

/** Whom a finding is about; names are looked up by whoever makes an incident of it. */
export type About = {
  readonly uuid?: string
  readonly pid?: number
  readonly container?: string
  readonly containerId?: string
  /** What it is about where that is none of these, or more than these say, such as a target's name; also in the facts, see `namedBy`. */
  readonly named?: string
}

/** From when to when memory runs out if the trend goes on: Unix ms, null = open end. */
export type ForecastInterval = { readonly earliestMs: number | null; readonly latestMs: number | null }

type Said<Kind extends DetectedKind = DetectedKind> = {
  readonly kind: Kind
  /** With the kind it names one incident for as long as that is open, such as `GPU-1 4242`. */
  readonly key: string
  readonly about: About
}
type FaultyAs<Kind extends DetectedKind> = Said<Kind> & {
  readonly state: 'faulty'
  readonly severity: Severity
  readonly title: string
  /** One or two sentences: what is wrong and why. */
  readonly verdict: string
  /** Those that the kind declares. */
  readonly facts: FactsOf<Kind>
  readonly remedies: readonly Remedy[]
  readonly forecast?: ForecastInterval
}
export type Faulty = Omit<FaultyAs<DetectedKind>, 'facts'> & { readonly facts: Facts }
/** `why` says how it ended where that is not obvious, such as "the process has ended". */
export type Healthy = Said & { readonly state: 'healthy'; readonly why?: string }
/** Neither: data is missing, too short or contradicts itself. Nothing follows from it: an open incident stays, none opens. */
export type Unknown = Said & { readonly state: 'unknown'; readonly why: string }

export type Finding = Faulty | Healthy | Unknown

/** What a detector makes: a fact that its kind does not declare fails to compile. Whoever reads findings of any kind takes `Finding`. */
export type TypedFaulty = { [Kind in DetectedKind]: FaultyAs<Kind> }[DetectedKind]
export type TypedFinding = TypedFaulty | Healthy | Unknown

/** A forecast, emitted when it begins, changes by more than a tenth, or ends (both null). */
export type Forecast = { readonly t: number; readonly key: string; readonly about: About } & ForecastInterval
