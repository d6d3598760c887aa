// The table `fault → promised → observed`, and its place in docs/reliability.md.
import type { AbuseCase } from './abuse-case.ts'

/** `skipped` and `failed` (the case itself could not be carried out) are no outcomes, and are told apart from a broken promise. */
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

/** The page with its table replaced; throws where the marks are missing. */
export function withTable(page: string, table: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`docs/reliability.md: expected '${BEGIN}' and '${END}' around the table`)
  return `${page.slice(0, from + BEGIN.length)}\n${table}\n${page.slice(to)}`
}
