// The table `fault → promised → observed`, and its place in docs/reliability.md.
import type { AbuseCase } from './abuse-case.ts'

/** `skipped` and `failed` (the case itself could not be carried out) are no outcomes, and are distinguished from a broken promise. */
export type Row = { readonly of: AbuseCase; readonly result: 'held' | 'broken' | 'skipped' | 'failed'; readonly observed: string }

const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ of, result, observed }) =>
      `| ${[`${of.area}: ${of.fault}`, of.promised, result === 'held' ? observed : `**${result}**: ${observed}`].map(cell).join(' | ')} |`,
  )
  return ['| fault | promised | observed |', '|---|---|---|', ...lines].join('\n')
}

const BEGIN = '<!-- made by npm run abuse -- --write, do not edit -->'
const END = '<!-- end -->'

/** The fault that a line of the table is about: its first cell. */
const faultOf = (line: string): string => /^\| ((?:[^|\\]|\\.)*) \|/.exec(line)?.[1] ?? ''

/** The page with the lines of these rows replaced or added, in the order of the cases; what was not run keeps its line. Throws where the marks are missing. */
export function withRows(page: string, cases: readonly AbuseCase[], rows: readonly Row[]): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`docs/reliability.md: expected '${BEGIN}' and '${END}' around the table`)
  const head = tableOf([]).split('\n')
  const before = page.slice(from + BEGIN.length, to).split('\n')
  const known = new Map([...before, ...rows.flatMap((row) => tableOf([row]).split('\n').slice(head.length))].map((line) => [faultOf(line), line]))
  const lines = cases.flatMap((of) => known.get(cell(`${of.area}: ${of.fault}`)) ?? [])
  return `${page.slice(0, from + BEGIN.length)}\n${[...head, ...lines].join('\n')}\n${page.slice(to)}`
}
