// The runs of a job as the agent keeps them: which are this page's, and what is shown of each. Pure.
import type { Run } from '../../../../../agent/model/job.ts'
import { outcomeText } from '../../../../../agent/text/job.ts'
import { isObject } from '../../../parts/connection/api.ts'
import type { Job } from '../running.ts'

const isRun = (value: unknown): value is Run =>
  isObject(value) &&
  ['job_id', 'job', 'kind'].every((key) => typeof value[key] === 'string') &&
  ['run', 'started_at', 'seen_at'].every((key) => typeof value[key] === 'number') &&
  isObject(value['gpu_seconds']) &&
  Array.isArray(value['incidents'])

/** The runs of one job, of an answer of the API. */
export function parseRuns(value: unknown): readonly Run[] {
  if (!Array.isArray(value) || !value.every(isRun)) throw new Error(`runs must be a list of runs, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}

/** The newest run of each job, of the list of jobs. */
export function parseNewest(value: unknown): readonly Run[] {
  if (!Array.isArray(value)) throw new Error(`jobs must be a list of jobs, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return parseRuns(value.map((row: unknown) => (isObject(row) ? row['last'] : row)))
}

/** Whether a run is one of the job that the page shows. Two containers of one name on a host never run at once, so the name is enough for one that is gone. */
export function isRunOf({ kind, key, name, containers, processes }: Pick<Job, 'kind' | 'key' | 'name' | 'containers' | 'processes'>, run: Run): boolean {
  if (kind === 'slurm') return run.slurm_job === name
  if (kind === 'container' && run.namespace === undefined && run.container === key) return true
  if (kind === 'unit' && run.unit === name) return true
  return containers.some((container) => container.key === run.container_id) || processes.some(({ pid }) => pid === run.pid)
}

export type RunRow = {
  readonly key: string
  readonly run: Run
  readonly outcome: string
  /** It ended other than it should. */
  readonly bad: boolean
  /** Until its end, or until it was last seen. */
  readonly lastedMs: number
}

const GOOD: ReadonlySet<Run['outcome']> = new Set<Run['outcome']>([undefined, 'completed', 'cancelled'])

/** The newest first. */
export const runRows = (runs: readonly Run[]): readonly RunRow[] =>
  runs
    .toSorted((a, b) => b.started_at - a.started_at || b.run - a.run)
    .map((run) => ({
      key: String(run.run),
      run,
      outcome: run.outcome === undefined ? 'running' : outcomeText(run.outcome),
      bad: !GOOD.has(run.outcome),
      lastedMs: Math.max(0, (run.ended_at ?? run.seen_at) - run.started_at),
    }))
