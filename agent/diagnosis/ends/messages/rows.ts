// Messages with one reason each, written as rows: what they say, what to change, the command, and what it means where the message does not say.
import type { Known } from './message.ts'

export type Row = readonly [pattern: RegExp, change: string, command?: string | undefined, means?: string]

export const ofRows = (rows: readonly Row[]): readonly Known[] =>
  rows.map(([pattern, text, command, says]): Known => ({
    pattern,
    ...(says === undefined ? {} : { says }),
    remedies: () => [command === undefined ? { text } : { text, command }],
  }))
