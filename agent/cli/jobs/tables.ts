// What `warpwatch jobs` prints: jobs, or groups of them, as a table for people and as CSV.
import { energyText, gramsText, outcomeText } from '../../text/job.ts'
import { OUTCOMES, type JobGroup, type JobGroupRow, type JobRow, type Run } from '../../model/job.ts'
import { memoryText } from '../../text/bytes.ts'
import { twoUnitSpan } from '../../text/span.ts'
import { utcMinuteText } from '../../text/time.ts'
import { priceText } from '../../text/waste.ts'
import { plain } from '../plain.ts'
import { wrapped } from '../wrapped.ts'
import type { JobProgressRow } from './from.ts'

export type Cells = readonly (readonly string[])[]

export function aligned(rows: Cells): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows
    .map(
      (row) =>
        `${row
          .map((text, column) => text.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
/** RFC 4180; a spreadsheet must not take a name for a formula. */
const csvCell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
export const csv = (rows: Cells): string => rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')

export const hours = (seconds: number): string => (seconds === 0 ? '0' : (seconds / 3_600).toFixed(seconds < 36_000 ? 2 : 1))
const resultOf = ({ outcome, exit_code: code, signal }: Run): string =>
  outcome === undefined
    ? 'running'
    : `${outcomeText(outcome)}${outcome === 'failed' && signal === undefined && code !== undefined ? ` (${code})` : ''}${signal === undefined || outcome === 'out_of_memory' ? '' : ` (${signal})`}`
const endsText = (outcomes: JobRow['outcomes']): string =>
  OUTCOMES.flatMap((outcome) => (outcomes[outcome] === undefined ? [] : [`${outcomes[outcome]} ${outcomeText(outcome)}`])).join(', ')

/** Leaves out columns, the first of `order` first, until a row fits the terminal; the first stays. What was left out is said below. */
function fitting(rows: Cells, order: readonly string[], columns: number): { readonly rows: Cells; readonly note: string } {
  const head = rows[0] ?? []
  const widths = head.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)))
  const left = new Set<number>()
  const needed = (): number => widths.reduce((sum, width, at) => (left.has(at) ? sum : sum + width + 2), -2)
  for (const name of order) {
    if (needed() <= columns) break
    if (head.includes(name)) left.add(head.indexOf(name))
  }
  if (left.size === 0) return { rows, note: '' }
  return {
    rows: rows.map((row) => row.filter((_, at) => !left.has(at))),
    note: `${wrapped(`Left out as the terminal is narrow: ${head.filter((_, at) => left.has(at)).join(', ')}. All columns: --csv`, columns)}\n`,
  }
}
const JOBS_ORDER = ['ID', 'PARTITION', 'ACCOUNT', 'LAST STARTED', 'GPU MEMORY', 'ENERGY', 'LOST H', 'RUN', 'IDLE H', 'USER', 'RATE']
const GROUPS_ORDER = ['OUTCOMES', 'TOKENS', 'RUNNING', 'RUNS', 'CO2', 'HELD H', 'LOST H']

const rateText = ({ step_rate: steps, samples_rate: samples, tokens_rate: tokens }: JobProgressRow): string => {
  const [rate, of] = steps !== undefined ? [steps, 'steps/s'] : tokens !== undefined ? [tokens, 'tokens/s'] : [samples, 'samples/s']
  if (rate === undefined) return ''
  return of === 'steps/s' && rate > 0 && rate < 1
    ? `${Number((1 / rate).toPrecision(3))} s/step`
    : `${Number(rate.toPrecision(3)).toLocaleString('en-US')} ${of}`
}
/** `1,200 of 5,000`, the rate, the time left. */
const progressCells = (row: JobProgressRow | undefined): readonly string[] => {
  if (row === undefined) return ['', '', '']
  const count = (value: number): string => value.toLocaleString('en-US')
  const step = row.step === undefined ? '' : `${count(row.step)}${row.steps === undefined ? '' : ` of ${count(row.steps)}`}`
  return [step, rateText(row), row.eta_seconds === undefined ? '' : twoUnitSpan(row.eta_seconds * 1_000)]
}

export type TableOptions = {
  /** Of the terminal; absent: as wide as it becomes. */
  readonly columns?: number | undefined
  /** Of a running agent: what runs has lasted until then, Unix ms. */
  readonly now?: number | undefined
  /** Of the jobs that run, as their logs say; its columns are left out where no job says anything. */
  readonly progress?: readonly JobProgressRow[]
}

export function jobsText(jobs: readonly JobRow[], from: string, { columns = Infinity, now, progress = [] }: TableOptions = {}): string {
  if (jobs.length === 0) return `No jobs (asked: ${from})\n`
  const rowOf = ({ job, last }: JobRow): JobProgressRow | undefined =>
    last.outcome === undefined ? progress.find((row) => row.job === job || row.job === last.container) : undefined
  const isReported = jobs.some((job) => rowOf(job) !== undefined)
  // Where there are several of one name, or other commands of Slurm are asked, its number counts.
  const has = (field: 'slurm_job' | 'account' | 'partition'): boolean => jobs.some(({ last }) => last[field] !== undefined)
  const [isSlurm, hasAccount, hasPartition] = [has('slurm_job'), has('account'), has('partition')]
  const head = [
    'JOB',
    ...(isSlurm ? ['SLURM'] : []),
    'ID',
    'RUN',
    'LAST STARTED',
    'LASTED',
    'LAST OUTCOME',
    ...(isReported ? ['STEP', 'RATE', 'LEFT'] : []),
    'GPU H',
    'IDLE H',
    'LOST H',
    'ENERGY',
    'GPU MEMORY',
    'USER',
    ...(hasAccount ? ['ACCOUNT'] : []),
    ...(hasPartition ? ['PARTITION'] : []),
  ]
  const rows = jobs
    .map((row) => [row, rowOf(row)] as const)
    .map(([{ job, job_id, user, last, gpu_seconds: seconds, energy_joules: joules, gpu_memory_peak_bytes: peak }, reported]) => [
      job.length > 40 ? `${job.slice(0, 39)}…` : job,
      ...(isSlurm ? [last.slurm_job ?? ''] : []),
      job_id,
      String(last.run),
      utcMinuteText(last.started_at),
      twoUnitSpan((last.ended_at ?? now ?? last.seen_at) - last.started_at),
      resultOf(last),
      ...(isReported ? progressCells(reported) : []),
      hours(seconds.active + seconds.idle),
      hours(seconds.idle),
      hours(seconds.lost),
      joules === undefined ? '' : energyText(joules),
      peak === undefined ? '' : memoryText(peak),
      user ?? '',
      ...(hasAccount ? [last.account ?? ''] : []),
      ...(hasPartition ? [last.partition ?? ''] : []),
    ])
  const table = fitting([head, ...rows], JOBS_ORDER, columns)
  return `${plain(aligned(table.rows))}\n${table.note}${jobs.length} from ${from}; one of them: warpwatch jobs JOB\n`
}
/** What the columns of hours are, for who sees them for the first time. */
const HOURS_TEXT =
  'GPU hours. HELD: it held GPU memory (each holder counts in full). GPU: its share of the time of the GPUs, busy or idle. IDLE: no work ran. ' +
  'LOST: work of failed runs since their last checkpoint.'

export function groupsText(groups: readonly JobGroupRow[], from: string, { columns = Infinity }: TableOptions = {}): string {
  if (groups.length === 0) return `No jobs (asked: ${from})\n`
  const has = (figure: 'price' | 'co2_grams' | 'tokens'): boolean => groups.some((group) => group[figure] !== undefined)
  const [isPriced, hasCarbon, hasTokens] = [has('price'), has('co2_grams'), has('tokens')]
  const head = [
    (groups[0]?.by ?? '').toUpperCase(),
    'RUNS',
    'RUNNING',
    'HELD H',
    'GPU H',
    'IDLE H',
    'LOST H',
    'ENERGY',
    ...(isPriced ? ['COST'] : []),
    ...(hasCarbon ? ['CO2'] : []),
    ...(hasTokens ? ['TOKENS'] : []),
    'OUTCOMES',
  ]
  const rows = groups.map((group) => {
    const {
      key,
      unheld,
      runs,
      running,
      held_seconds: held,
      gpu_seconds: seconds,
      energy_joules: joules,
      tokens,
      outcomes,
      price,
      currency,
      co2_grams: grams,
    } = group
    return [
      key ?? (unheld === true ? '(not held)' : '(not known)'),
      String(runs),
      String(running),
      held === undefined ? '' : hours(held),
      hours(seconds.active + seconds.idle),
      hours(seconds.idle),
      hours(seconds.lost),
      joules === undefined ? '' : energyText(joules),
      ...(isPriced ? [price === undefined ? '' : priceText(price, currency)] : []),
      ...(hasCarbon ? [grams === undefined ? '' : gramsText(grams)] : []),
      ...(hasTokens ? [tokens === undefined ? '' : tokens.toLocaleString('en-US')] : []),
      endsText(outcomes),
    ]
  })
  const table = fitting([head, ...rows], GROUPS_ORDER, columns)
  return `${plain(aligned(table.rows))}\n${table.note}${wrapped(HOURS_TEXT, columns)}\n`
}

const time = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString())
const figure = (value: number | undefined): string => (value === undefined ? '' : String(Math.round(value * 1_000) / 1_000))
const SUMS = ['runs', 'running', ...OUTCOMES, 'gpu_seconds_active', 'gpu_seconds_idle', 'gpu_seconds_lost', 'energy_joules']
const sums = ({
  runs,
  running,
  outcomes,
  gpu_seconds: seconds,
  energy_joules: joules,
}: Pick<JobRow, 'runs' | 'running' | 'outcomes' | 'gpu_seconds' | 'energy_joules'>) => [
  String(runs),
  String(running),
  ...OUTCOMES.map((outcome) => String(outcomes[outcome] ?? 0)),
  figure(seconds.active),
  figure(seconds.idle),
  figure(seconds.lost),
  figure(joules),
]
export const jobsCsv = (jobs: readonly JobRow[]): string =>
  csv([
    [
      'job',
      'job_id',
      'kind',
      'user',
      'namespace',
      'last_started',
      'last_ended',
      'last_outcome',
      'last_exit_code',
      'last_signal',
      'memory_peak_bytes',
      'gpu_memory_peak_bytes',
      ...SUMS,
      'slurm_job',
      'account',
      'partition',
    ],
    ...jobs.map((row) => [
      row.job,
      row.job_id,
      row.kind,
      row.user ?? '',
      row.namespace ?? '',
      time(row.last.started_at),
      time(row.last.ended_at),
      row.last.outcome ?? '',
      figure(row.last.exit_code),
      row.last.signal ?? '',
      figure(row.memory_peak_bytes),
      figure(row.gpu_memory_peak_bytes),
      ...sums(row),
      row.last.slurm_job ?? '',
      row.last.account ?? '',
      row.last.partition ?? '',
    ]),
  ])
export const groupsCsv = (groups: readonly JobGroupRow[], by: JobGroup): string =>
  csv([
    [by, 'unheld', ...SUMS, 'held_seconds', 'memory_byte_seconds', 'tokens', 'price', 'currency', 'co2_grams'],
    ...groups.map((row) => [
      row.key ?? '',
      row.unheld === true ? 'true' : 'false',
      ...sums(row),
      figure(row.held_seconds),
      figure(row.memory_byte_seconds),
      figure(row.tokens),
      figure(row.price),
      row.currency ?? '',
      figure(row.co2_grams),
    ]),
  ])
