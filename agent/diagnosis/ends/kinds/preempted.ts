// The platform took the machine back for something else.
import { batchSystem } from '../batch-system.ts'
import type { EndKind } from '../end-kind.ts'

export const preempted: EndKind = {
  kind: 'preempted',
  stage: 'order',
  severity: 'warning',
  title: ({ facts: { job_id: job } }) => `The job${job === undefined ? '' : ` ${job}`} was preempted`,
  verdict: ({ facts: { job_id: job } }) =>
    `The job${job === undefined ? '' : ` ${job}`} was ended, because a job of higher priority or the provider took its machine, or it was requeued.`,
  remedies: ({ facts: { job_id: job }, situation }) => [
    { text: 'Save checkpoints often, and resume from the last one when the job starts again.' },
    { text: 'Catch SIGTERM and save then: there are some seconds to a few minutes before the end.' },
    job !== undefined && { text: 'Let the scheduler queue it again by itself.', command: batchSystem(situation, job).again },
  ],
}
