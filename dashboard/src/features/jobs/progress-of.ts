// Which row of progress is a job's.
import type { FrameMessage, ProgressRow } from '../../../../agent/model/live.ts'
import type { Job } from './running.ts'

/** The rows of its containers, or of the runs that are theirs; of several ranks the first. */
export function progressOf(job: Pick<Job, 'containers'>, { progress, jobs }: Pick<FrameMessage, 'progress' | 'jobs'>): ProgressRow | undefined {
  const containers = new Set(job.containers.map(({ row }) => row.container))
  const names = new Set([...containers, ...jobs.flatMap((run) => (run.container !== undefined && containers.has(run.container) ? [run.job] : []))])
  return progress.find((row) => names.has(row.job))
}
