// Jobs that run: how far each is, how fast, how long it will take, what it holds.
import type { FrameMessage, ProgressRow } from '../../../model/live.ts'
import type { Run } from '../../../model/job.ts'
import { memoryText } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { twoUnitSpan } from '../../../text/span.ts'
import { outcomeText } from '../../../text/job.ts'
import { barCells } from '../terminal/sparkline.ts'
import type { Holders } from './holders.ts'
import { orUnknown, UNKNOWN, type Cell, type Row, type Section } from './section.ts'

/** Of the ranks of a job the first says it for all. */
const progressOf = (job: string, progress: readonly ProgressRow[]): ProgressRow | undefined =>
  progress.filter((row) => row.job === job).toSorted((a, b) => Number(a.rank ?? -1) - Number(b.rank ?? -1))[0]

function progressCell(progress: ProgressRow | undefined): Cell {
  const { progress_ratio: ratio, step, steps, phase } = progress ?? {}
  if (ratio === undefined) return step === undefined ? (phase ?? UNKNOWN) : `step ${step}${steps === undefined ? '' : `/${steps}`}`
  return (width) => {
    const bar = Math.max(0, width - 6)
    const [done = 0] = barCells([ratio], 1, bar)
    return [
      { text: '█'.repeat(done), style: { colour: 'good' } },
      { text: '·'.repeat(bar - done), style: { dim: true } },
      { text: ` ${percent(ratio).padStart(5)}` },
    ]
  }
}
const rateOf = ({ step_rate: step, samples_rate: samples, tokens_rate: tokens }: Partial<ProgressRow>): string => {
  const text = (value: number): string => (value >= 1_000 ? `${(value / 1_000).toFixed(1)}k` : value >= 10 ? value.toFixed(0) : value.toFixed(2))
  return tokens !== undefined ? `${text(tokens)} tok/s` : samples !== undefined ? `${text(samples)} smp/s` : step !== undefined ? `${text(step)} it/s` : UNKNOWN
}

function rowOf(run: Run, frame: FrameMessage, holders: Holders): Row {
  const progress = progressOf(run.job, frame.progress)
  // What the next run of the same job holds is not of one that has ended.
  const held = run.ended_at === undefined ? frame.processes.filter((process) => holders.runOf(process)?.job_id === run.job_id) : []
  const bytes = held.length === 0 ? undefined : held.reduce((sum, { gpu_memory_bytes: own = 0 }) => sum + own, 0)
  const gpus = [...new Set(run.gpus.map(({ gpu }) => gpu))].toSorted((a, b) => Number(a) - Number(b)).join(',')
  const lasted = (run.ended_at ?? frame.t) - run.started_at
  const eta = progress?.eta_seconds
  const state = run.outcome === undefined ? (progress?.phase ?? 'running') : outcomeText(run.outcome)
  return {
    key: `${run.job_id} ${run.run}`,
    text: `${run.job} ${run.user ?? ''} ${run.kind} ${state}`,
    dim: run.ended_at !== undefined,
    values: [
      run.job,
      run.user,
      gpus,
      bytes,
      progress === undefined ? undefined : (progress.progress_ratio ?? -1),
      progress?.step_rate ?? progress?.samples_rate ?? progress?.tokens_rate,
      eta,
      progress?.loss,
      lasted,
      state,
    ],
    cells: [
      [{ text: run.job, style: { colour: holders.colourOf(run.job) } }],
      run.user ?? UNKNOWN,
      gpus,
      orUnknown(bytes, memoryText),
      progressCell(progress),
      rateOf(progress ?? {}),
      orUnknown(eta, (seconds) => twoUnitSpan(seconds * 1_000)),
      orUnknown(progress?.loss, (loss) => loss.toPrecision(4)),
      `${run.started_before === true ? '>' : ''}${twoUnitSpan(lasted)}`,
      state,
    ],
  }
}

export function jobSection(frame: FrameMessage, holders: Holders): Section {
  const shown = frame.jobs.filter((run) => run.gpus.length > 0 || progressOf(run.job, frame.progress) !== undefined)
  return {
    id: 'jobs',
    title: 'jobs',
    least: 3,
    columns: [
      { title: 'JOB', width: 14, grow: 3, most: 40 },
      { title: 'USER', width: 8, drop: 4 },
      { title: 'GPUS', width: 8, grow: 1, most: 24 },
      { title: 'MEMORY', width: 9, right: true },
      { title: 'PROGRESS', width: 12, grow: 2, most: 40 },
      { title: 'RATE', width: 10, right: true, drop: 3 },
      { title: 'ETA', width: 11, right: true },
      { title: 'LOSS', width: 7, right: true, drop: 5 },
      { title: 'LASTED', width: 12, right: true, drop: 2 },
      { title: 'STATE', width: 9, grow: 1, most: 16, drop: 1 },
    ],
    rows: shown
      .toSorted((a, b) => Number(a.ended_at !== undefined) - Number(b.ended_at !== undefined) || b.gpus.length - a.gpus.length || (a.job < b.job ? -1 : 1))
      .map((run) => rowOf(run, frame, holders)),
  }
}
