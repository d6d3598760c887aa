// What is known of a message of a library. One table for each subject beside this file.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndTold } from '../end-kind.ts'

export type Known = {
  /** Over the error's message and the lines after it. */
  readonly pattern: RegExp
  /** A sentence after the message; left out where the message says it. */
  readonly says?: string | ((match: RegExpExecArray, told: EndTold) => string | undefined)
  /** None: it does not apply here. */
  readonly remedies: (match: RegExpExecArray, told: EndTold) => readonly Piece[]
}
export const only = (text: string, command?: string) => (): readonly Piece[] => [command === undefined ? { text } : { text, command }]
