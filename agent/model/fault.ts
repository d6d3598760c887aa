// What went wrong, as a log line or the numbers show it: kind, figures, one verdict, what to change.
import type { Confidence } from './confidence.ts'
import type { Facts } from './facts.ts'
import type { LogKind } from './kinds.ts'
import type { Severity } from './severity.ts'

export type Remedy = { readonly text: string; readonly command?: string }
/** A line that shows the fault; `line` counts from 1 in the text that was read. */
export type EvidenceLine = { readonly line: number; readonly text: string }

export type Fault<Kind extends string = LogKind> = {
  readonly kind: Kind
  readonly severity: Severity
  readonly title: string
  /** One or two sentences: what failed and why. */
  readonly verdict: string
  /** How sure the verdict is of its cause; said where the fault leaves the diagnosis. */
  readonly confidence?: Confidence
  readonly facts: Facts
  readonly remedies: readonly Remedy[]
  readonly evidence: readonly EvidenceLine[]
}
