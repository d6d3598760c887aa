// What is known of a message of a library. One table for each subject beside this file.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndContext } from '../end-kind.ts'

export type Known = {
  /** Over the error's message and the lines after it. */
  readonly pattern: RegExp
  /** Where the same words may come from other programs. */
  readonly when?: (context: EndContext) => boolean
  /** Who and what in a few words, in place of the title of the kind. */
  readonly title?: string | ((match: RegExpExecArray, context: EndContext) => string | undefined)
  /** A sentence after the message; left out where the message says it. */
  readonly says?: string | ((match: RegExpExecArray, context: EndContext) => string | undefined)
  /** None: it does not apply here. */
  readonly remedies: (match: RegExpExecArray, context: EndContext) => readonly Piece[]
}
export const only = (text: string, command?: string) => (): readonly Piece[] => [command === undefined ? { text } : { text, command }]

export type KnownMessage = { readonly title?: string | undefined; readonly says: string | undefined; readonly remedies: readonly Piece[] }
const said = (one: Known['says'], match: RegExpExecArray, context: EndContext): string | undefined => (typeof one === 'function' ? one(match, context) : one)
/** The first row that fits; a row without advice for this program is passed over. */
export function firstKnown(rows: readonly Known[], words: string, context: EndContext): KnownMessage | undefined {
  for (const { pattern, when, title, says, remedies } of rows) {
    const match = pattern.exec(words)
    if (match === null || when?.(context) === false) continue
    const advice = remedies(match, context)
    if (advice.some(Boolean)) return { title: said(title, match, context), says: said(says, match, context), remedies: advice }
  }
  return undefined
}
