// Tables of texts: what the answer to each must say, and what it must not say.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

export type Row = readonly [what: string, text: string, says: RegExp, not?: RegExp]
const NOTHING = /(?!)/

export const rows = (subject: string, all: readonly Row[]): void => {
  test.each(all.map(([what, text, says, not]) => ({ what: `${subject}: ${what}`, text, says, not: not ?? NOTHING })))('$what', ({ text, says, not }) => {
    const { all: said } = answer(text)
    expect(said).toMatch(says)
    expect(said).not.toMatch(not)
  })
}

export type KindRow = readonly [what: string, text: string, kind: string, says: RegExp]

/** The same where the kind of the first fault counts too. */
export const kindRows = (subject: string, all: readonly KindRow[]): void => {
  test.each(all.map(([what, text, kind, says]) => ({ what: `${subject}: ${what}`, text, kind, says })))('$what', ({ text, kind, says }) => {
    const found = answer(text)
    expect(found.kind).toBe(kind)
    expect(found.all).toMatch(says)
  })
}
