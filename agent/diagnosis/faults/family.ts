// What a fault family is: it knows what some programs print when one thing goes wrong. Pure: text in, fault out.
import type { Facts, LogKind, Remedy, Severity } from '../../model/fault.ts'

/** The lines that were read, without their line ends; each is bounded in length, the scanner cut it. */
export type LogText = readonly string[]

/** What a family says of a place in the text. */
export type Recognised = {
  readonly kind: LogKind
  readonly severity: Severity
  readonly title: string
  readonly verdict: string
  readonly facts: Facts
  readonly remedies: readonly Remedy[]
  /** Indexes into the text of the lines that show it, the telling one first. */
  readonly lines: readonly number[]
}

export type FaultFamily = {
  readonly id: string
  readonly kinds: readonly LogKind[]
  /**
   * ASCII literals, as they are printed. The scanner looks for all families' literals in one pass; a line without any of them costs nothing more.
   * Choose long and rare ones: a literal that stands in ordinary logs makes every such line a candidate.
   */
  readonly literals: readonly string[]
  /**
   * Called for each line that holds one of the literals. Looks around in `text` as far as its message reaches (wrapped lines, a traceback above).
   * Patterns must be linear: no nested quantifiers over the same characters.
   */
  readonly recognise: (text: LogText, at: number) => Recognised | readonly Recognised[] | undefined
}
