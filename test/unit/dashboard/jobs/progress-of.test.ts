// Which row of progress is a job's: by its container, or by the name of the run in it.
import { expect, test } from 'vitest'
import type { Run } from '../../../../agent/model/job.ts'
import { progressOf } from '../../../../dashboard/src/features/jobs/progress-of.ts'
import { jobsOf } from '../../../../dashboard/src/features/jobs/running.ts'
import { container, frame } from '../helpers.ts'

const run: Run = {
  job_id: '0123456789abcdef',
  job: 'finetune',
  kind: 'container',
  container: 'stack-finetune-1',
  run: 1,
  started_at: 0,
  seen_at: 0,
  gpus: [],
  gpu_seconds: { active: 0, idle: 0, lost: 0 },
  incidents: [],
}
const row = (job: string, step: number) => ({ job, step, last_progress_timestamp_seconds: 1 })

test('by container or by the name of its run; others have none', () => {
  const now = {
    ...frame(0, [], [container('stack-finetune-1', {}), container('train', {}), container('web', {})]),
    jobs: [run],
    progress: [row('finetune', 5), row('train', 7)],
  }
  expect(jobsOf(now).map((job) => [job.name, progressOf(job, now)?.step])).toEqual([
    ['stack-finetune-1', 5],
    ['train', 7],
    ['web', undefined],
  ])
})
