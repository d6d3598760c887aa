// Messages with one reason each, written as rows: what they say, what to change, the command, what it means and a title where the message does not say.
import type { Known } from './message.ts'

export type Row = readonly [pattern: RegExp, change: string, command?: string | undefined, means?: string | undefined, title?: string]

export const ofRows = (rows: readonly Row[]): readonly Known[] =>
  rows.map(([pattern, text, command, says, title]): Known => ({
    pattern,
    ...(says === undefined ? {} : { says }),
    ...(title === undefined ? {} : { title }),
    remedies: () => [command === undefined ? { text } : { text, command }],
  }))
