// The job reached its time limit.
import { batchSystem } from '../batch-system.ts'
import type { EndKind } from '../end-kind.ts'

export const timeLimit: EndKind = {
  kind: 'time_limit',
  stage: 'order',
  severity: 'warning',
  title: ({ facts: { job_id: job } }) => `The job${job === undefined ? '' : ` ${job}`} reached its time limit`,
  verdict: ({ facts: { job_id: job } }) =>
    `The job${job === undefined ? '' : ` ${job}`} ran into its time limit and was ended. It did not fail by itself; what came after its last checkpoint is lost.`,
  remedies: ({ facts: { job_id: job }, situation }) => {
    const system = batchSystem(situation, job)
    return [
      {
        text: 'Save a checkpoint before the limit, and let the job resume from it.',
        ...(system?.warned === undefined ? {} : { command: system.warned }),
      },
      system === undefined
        ? { text: 'Or raise the limit (activeDeadlineSeconds, timeout, walltime).' }
        : { text: 'Or ask for more time, within what the partition or queue allows.', command: system.moreTime },
    ]
  },
}
