// One job as a page for a terminal: what came of its newest run and why, what it used, its incidents, and the runs before it.
import { reportOf, type ReportPart } from '../../jobs/report.ts'
import type { Run } from '../../model/job.ts'
import { utcText } from '../../text/time.ts'
import { printable, type Paint } from '../paint.ts'
import { hanging, wrapped } from '../wrapped.ts'
import { aligned } from './tables.ts'

const MOST_WIDTH = 100
const plain = (text: string): string => text

type Options = { readonly paint: Paint; readonly columns?: number | undefined; readonly now?: number | undefined }

export function jobPage(runs: readonly [Run, ...Run[]], host: string, { paint, columns, now }: Options): string {
  const width = Math.min(columns ?? MOST_WIDTH, MOST_WIDTH)
  const { title, summary, parts } = reportOf(runs, host, { code: plain, prose: plain, moment: utcText }, now)
  const rows = (pairs: readonly (readonly [string, string])[]): string => {
    const longest = Math.max(...pairs.map(([name]) => name.length))
    return pairs
      .map(([name, text]) => `  ${paint('dim', name.padEnd(longest))}  ${printable(wrapped(text, Math.max(40, width), ' '.repeat(longest + 4))).trimStart()}\n`)
      .join('')
  }
  const body = (part: ReportPart): string =>
    part.kind === 'rows'
      ? rows(part.rows)
      : part.kind === 'table'
        ? aligned([part.head, ...part.rows].map((row) => row.map(printable)))
            .trimEnd()
            .split('\n')
            .map((line, at) => `  ${at === 0 ? paint('dim', line) : line}\n`)
            .join('')
        : part.incidents
            .map(({ id, title: what }) => `${hanging(`  ${printable(what)}`, columns, '    ')}\n    ${paint('command', `warpwatch incidents ${id}`)}\n`)
            .join('')
  const section = (part: ReportPart): string => `\n${part.title === undefined ? '' : `${paint('strong', part.title)}\n`}${body(part)}`
  return `${paint('strong', printable(title))}\n\n${printable(wrapped(summary, width))}\n${parts.map(section).join('')}\n${paint('dim', 'To paste into a ticket: --markdown')}\n`
}
