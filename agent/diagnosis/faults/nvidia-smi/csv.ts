// `nvidia-smi --query-gpu=… --format=csv` as pasted: a head line of field names and a line per GPU.
import type { LogText } from '../family.ts'

export type Row = { readonly line: number; readonly cells: ReadonlyMap<string, string> }

const NAME = /^[a-z][a-z0-9_.]{1,60}(?: \[[^\]]{1,12}\])?$/

/** The head line's names without their units; undefined when it is none. */
function namesOf(line: string): readonly string[] | undefined {
  const names = line.trim().split(/, ?/)
  return names.every((name) => NAME.test(name)) ? names.map((name) => name.replace(/ \[.*$/, '')) : undefined
}

/** Machines have no more GPUs, and repeated output goes on in the next head line's stead. */
const ROWS = 64

export function rowsBelow(text: LogText, at: number): readonly Row[] {
  const names = namesOf(text[at] ?? '')
  if (names === undefined) return []
  const rows: Row[] = []
  for (let line = at + 1; line < text.length && line <= at + ROWS; line++) {
    const values = (text[line] ?? '').trim().split(/, ?/)
    if (values.length !== names.length || values[0] === '') break
    rows.push({ line, cells: new Map(names.map((name, column) => [name, (values[column] ?? '').trim()])) })
  }
  return rows
}
