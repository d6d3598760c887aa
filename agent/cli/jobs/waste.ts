// What `warpwatch jobs --waste` prints: GPU time that was held and idle or lost, by user, with what would help; as a table for people and as CSV.
import type { WasteGroup, WasteRow, WasteSummary } from '../../model/ledger.ts'
import { counted } from '../../text/grammar.ts'
import { utcMinuteText, utcStamp } from '../../text/time.ts'
import { slurmNote } from '../../text/waste.ts'
import { plain } from '../plain.ts'
import { wrapped } from '../wrapped.ts'
import { aligned, csv, hours } from './tables.ts'

const HOUR_S = 3_600
const MOST_NAME = 40
const isPriced = ({ rows }: WasteSummary): boolean => rows.some(({ price }) => price !== undefined)
const inHours = (amount: number): string => hours(amount * HOUR_S)
const short = (job: string): string => (job.length > MOST_NAME ? `${job.slice(0, MOST_NAME - 1)}…` : job)
const nameOf = (row: WasteRow, by: WasteGroup): string => row[by] ?? '(not known)'

export type WasteOptions = {
  readonly by?: WasteGroup | undefined
  /** Of the terminal; absent: as wide as it becomes. */
  readonly columns?: number | undefined
}

/** One line for each job behind the figures: who, which job, what is to be seen. */
function jobLines(row: WasteRow, by: WasteGroup): readonly string[] {
  const { oversized, died } = row
  return [
    ...oversized.map(({ job, slurm_job, text }) => `  ${nameOf(row, by)}: ${short(job)}${slurmNote(slurm_job)}: ${text}`),
    ...died.map(
      ({ job, slurm_job, runs, gpu_hours_lost: lost }) =>
        `  ${nameOf(row, by)}: ${short(job)}${slurmNote(slurm_job)}: ${counted(runs, 'run')} ended badly and lost ${inHours(lost)} GPU hours`,
    ),
  ]
}

export function wasteText(summary: WasteSummary, from: string, { by = 'user', columns = Infinity }: WasteOptions = {}): string {
  const { host, from: since, to, rows } = summary
  const span = `${utcStamp(since).slice(0, 16)} to ${utcMinuteText(to)}`
  if (rows.length === 0)
    return plain(`${host}, ${span}: no ${by} left a GPU idle for more than 6 min, and no failed run lost more than that (asked: ${from})\n`)
  const priced = isPriced(summary)
  const head = [by.toUpperCase(), 'HELD H', 'IDLE H', 'WHOLE IDLE H', 'LOST H', ...(priced ? ['COST'] : [])]
  const cells = rows.map((row) => [
    nameOf(row, by),
    inHours(row.gpu_hours_held),
    inHours(row.gpu_hours_idle),
    inHours(row.gpu_hours_queueable),
    inHours(row.gpu_hours_lost),
    ...(priced ? [row.price === undefined ? '' : `${row.price.toFixed(2)}${row.currency === undefined ? '' : ` ${row.currency}`}`] : []),
  ])
  const jobs = rows.flatMap((row) => jobLines(row, by))
  const explained =
    'GPU hours. IDLE: no work ran. WHOLE IDLE: in hours in which the GPU ran nothing at all, so another job could have had it. LOST: work of failed runs since their last checkpoint.'
  return plain(
    `GPU time idle or lost on ${host}, ${span}\n\n${aligned([head, ...cells])}\n${jobs.length === 0 ? '' : `${jobs.join('\n')}\n\n`}${wrapped(explained, columns)}\n`,
  )
}

export const wasteCsv = ({ rows }: WasteSummary, by: WasteGroup = 'user'): string =>
  csv([
    [by, 'gpu_hours_held', 'gpu_hours_idle', 'gpu_hours_queueable', 'gpu_hours_lost', 'price', 'currency'],
    ...rows.map((row) => [
      row[by] ?? '',
      ...[row.gpu_hours_held, row.gpu_hours_idle, row.gpu_hours_queueable, row.gpu_hours_lost].map(String),
      row.price === undefined ? '' : String(row.price),
      row.currency ?? '',
    ]),
  ])
