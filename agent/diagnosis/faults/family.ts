// What a fault family is: it knows what some programs print when one thing goes wrong. Pure: text in, fault out.
import type { Remedy } from '../../model/fault.ts'
import type { FactsOf, LogKind } from '../../model/kinds.ts'
import type { Severity } from '../../model/severity.ts'
import type { Situation } from '../situation/situation.ts'

/** The lines that were read, without their line ends; each is bounded in length, the scanner cut it. */
export type LogText = readonly string[]

type RecognisedAs<Kind extends LogKind> = {
  readonly kind: Kind
  readonly severity: Severity
  readonly title: string
  readonly verdict: string
  /** Those that the kind declares; another one fails to compile. */
  readonly facts: FactsOf<Kind>
  readonly remedies: readonly Remedy[]
  /** Indexes into the text of the lines that show it, the telling one first. */
  readonly lines: readonly number[]
}
/** What a family says of a place in the text. */
export type Recognised = { [Kind in LogKind]: RecognisedAs<Kind> }[LogKind]
/** The same where the kind is known only as one of all: what a table of rules finds. */
export type Found = RecognisedAs<LogKind>

export type FaultFamily = {
  readonly id: string
  readonly kinds: readonly LogKind[]
  /**
   * ASCII literals, as they are printed. The scanner looks for all families' literals in one pass; a line without any of them costs nothing more.
   * Choose long and rare ones: a literal that is in ordinary logs makes every such line a candidate.
   */
  readonly literals: readonly string[]
  /**
   * Called for each line that holds one of the literals. Looks around in `text` as far as its message reaches (wrapped lines, a traceback above).
   * Patterns must be linear: no nested quantifiers over the same characters. `situation` is read when it is first asked for: only where something was found.
   */
  readonly recognise: (text: LogText, at: number, situation: () => Situation) => Found | readonly Found[] | undefined
}
