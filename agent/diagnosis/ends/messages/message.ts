// What is known of a message of a library. One table for each subject beside this file.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndTold } from '../end-kind.ts'

export type Known = {
  /** Over the error's message and the lines after it. */
  readonly pattern: RegExp
  /** Where the same words may come from other programs. */
  readonly when?: (told: EndTold) => boolean
  /** In place of the kind's title. */
  readonly title?: string
  /** A sentence after the message; left out where the message says it. */
  readonly says?: string | ((match: RegExpExecArray, told: EndTold) => string | undefined)
  /** None: it does not apply here. */
  readonly remedies: (match: RegExpExecArray, told: EndTold) => readonly Piece[]
}
export const only = (text: string, command?: string) => (): readonly Piece[] => [command === undefined ? { text } : { text, command }]

export type KnownMessage = { readonly title?: string | undefined; readonly says: string | undefined; readonly remedies: readonly Piece[] }
/** The first row that fits; a row without advice for this program is passed over. */
export function firstKnown(rows: readonly Known[], words: string, told: EndTold): KnownMessage | undefined {
  for (const { pattern, when, title, says, remedies } of rows) {
    const match = pattern.exec(words)
    if (match === null || when?.(told) === false) continue
    const advice = remedies(match, told)
    if (advice.some(Boolean)) return { title, says: typeof says === 'function' ? says(match, told) : says, remedies: advice }
  }
  return undefined
}
