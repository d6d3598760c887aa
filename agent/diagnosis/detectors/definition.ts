// What a detector is: a pure judgment of what the numbers say, declared once with its options and the Prometheus expression of the same judgment.
import type { Event } from '../../model/event.ts'
import type { Finding } from '../../model/finding.ts'
import type { DetectedKind } from '../../model/kinds.ts'
import type { Severity } from '../../model/severity.ts'
import type { Present } from './parts/present.ts'
import type { Tracks } from './parts/tracks.ts'

/** A figure that a user may set under `detectors.<id>.<name>`. */
export type OptionDef = { readonly default: number; readonly min: number; readonly max: number; readonly help: string }
export type OptionDefs = Readonly<Record<string, OptionDef>>
export type OptionValues<Defs extends OptionDefs> = { readonly [Name in keyof Defs]: number }

/** What all detectors share: folds of the events, made once. They are up to date when `judge` is called. */
export type Parts = {
  readonly present: Present
  readonly tracks: Tracks
}

export type Detector = {
  /** Only for what the shared parts do not keep: it is called for every event. */
  readonly ingest?: (event: Event) => void
  /** Called at most every `everyMs` of the events' own time. A subject of which nothing is said is as one of which `unknown` is said. */
  readonly judge: (t: number) => readonly Finding[]
}

/** The alerting rule's `expr` (a rule page that users without the agent's incidents can run), or why the metrics cannot say it. */
export type Expression = { readonly promql: string; readonly for?: string } | { readonly none: string }

export type DetectorDefinition<Defs extends OptionDefs = OptionDefs> = {
  /** The kind of incident in kebab-case, such as `memory-leak`; one detector may raise related kinds. */
  readonly id: string
  readonly kinds: readonly DetectedKind[]
  readonly title: string
  readonly severity: Severity
  /** Full names of the metrics that must be indexed in `present` for it. */
  readonly watches: readonly string[]
  readonly everyMs: number
  readonly options: Defs
  readonly expression: Expression
  /** A method, so that a detector with options of its own still fits the registry. */
  create(options: OptionValues<Defs>, parts: Parts): Detector
}

/** Keeps the types of the options; what comes out fits the registry. */
export function defineDetector<const Defs extends OptionDefs>(definition: DetectorDefinition<Defs>): DetectorDefinition<Defs> {
  return definition
}
