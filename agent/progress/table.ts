// Tables: a line of names, then lines of figures. The names of the head become those of the figures.
import { wordsOf, type Field } from './fields.ts'

export type Table = {
  /** Remembers a line of names. */
  readonly head: (text: string) => void
  /** The figures with the names of the head, where they are as many. */
  readonly named: (text: string, fields: readonly Field[]) => readonly Field[]
}

const DELIMITERS: readonly RegExp[] = [/\s*\|\s*/, /\s*,\s*/, /\t+/, /\s{2,}/, /\s+/]
const cells = (text: string, delimiter: RegExp): readonly string[] =>
  text
    .trim()
    .replace(/^\||\|$/g, '')
    .trim()
    .split(delimiter)
    .filter((cell) => cell !== '')
const NAME = /^[A-Za-z_#][\w /.()@%#-]{0,30}$/

/** Names that only the head of a table has. */
const ALIASES: Readonly<Record<string, string>> = { e: 'epoch', '#': 'step' }

export function createTable(): Table {
  let names: readonly string[] = []
  return {
    head(text) {
      if (text.length > 400 || !/\b(?:epoch|step|iter|loss|batch|round|it)/i.test(text)) return
      for (const delimiter of DELIMITERS) {
        const found = cells(text, delimiter)
        if (found.length < 3 || !found.every((cell) => NAME.test(cell))) continue
        if (delimiter.source === String.raw`\s+` && found.length > 12) continue
        names = found.map((cell) => ALIASES[cell.toLowerCase()] ?? wordsOf(cell))
        return
      }
    },
    named(text, fields) {
      if (names.length < 3 || fields.some(({ key }) => key !== '')) return fields
      // Cells without a figure keep their place.
      for (const delimiter of DELIMITERS) {
        const found = cells(text, delimiter)
        if (found.length !== names.length) continue
        const ends: number[] = []
        for (const cell of found) ends.push(text.indexOf(cell, ends.at(-1) ?? 0) + cell.length)
        return fields.map((field) => ({ ...field, key: names[ends.findIndex((end) => end > field.from)] ?? '' }))
      }
      return fields
    },
  }
}
