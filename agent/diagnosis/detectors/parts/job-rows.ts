// What each job says of its progress now, one row a job: of several ranks the first.
import { jobLastProgressTimestampSeconds, jobProgressRatio, jobStep } from '../../../metrics/job-progress.ts'
import { jobInfo } from '../../../metrics/job.ts'
import type { Present } from './present.ts'
import type { Tracks } from './tracks.ts'

export type JobRow = {
  readonly job: string
  readonly step: number
  /** When the step changed last, Unix ms. */
  readonly progressedAt: number
  /** 0 to 1; undefined where the job does not say how many steps there are. */
  readonly ratio: number | undefined
}

const HEARD_MS = 10_000

export const JOB_METRICS: readonly string[] = [jobStep.name, jobLastProgressTimestampSeconds.name, jobProgressRatio.name, jobInfo.name]

export function jobRowsOf(present: Present): ReadonlyMap<string, JobRow> {
  const valuesOf = (metric: string): ReadonlyMap<string, { readonly rank: string; readonly value: number }> => {
    const found = new Map<string, { readonly rank: string; readonly value: number }>()
    for (const { series, value } of present.of(metric)) {
      const { job, rank = '' } = series.labels
      if (job === undefined) continue
      const before = found.get(job)
      if (before === undefined || Number(rank) < Number(before.rank)) found.set(job, { rank, value })
    }
    return found
  }
  const times = valuesOf(jobLastProgressTimestampSeconds.name)
  const ratios = valuesOf(jobProgressRatio.name)
  const rows = new Map<string, JobRow>()
  for (const [job, { value: step }] of valuesOf(jobStep.name)) {
    const progressed = times.get(job)
    if (progressed !== undefined) rows.set(job, { job, step, progressedAt: progressed.value * 1_000, ratio: ratios.get(job)?.value })
  }
  return rows
}

/** A job whose series is missing has ended; it is not a gap. */
export const logsAreRead = (present: Present, t: number): boolean => t - (present.heard('job-progress') ?? -Infinity) <= HEARD_MS

/** The container of a job, where the job is one. */
export function containerOfJob(present: Present, tracks: Tracks, job: string): string | undefined {
  const container = present.of(jobInfo.name).find(({ series }) => series.labels['job'] === job)?.series.labels['container']
  if (container !== undefined && container !== '') return container
  const named = [...present.inventory.containers()].some(({ name }) => name === job) || [...tracks.all()].some(({ container }) => container === job)
  return named ? job : undefined
}

/** The GPUs that the job holds: those of its container, else all that anybody works on. */
export function gpusOfJob(tracks: Tracks, container: string | undefined): ReadonlySet<string> {
  const living = [...tracks.all()].filter(({ endedT }) => endedT === undefined)
  const own = container === undefined ? [] : living.filter((track) => track.container === container)
  return new Set((own.length > 0 ? own : living).map(({ uuid }) => uuid))
}
