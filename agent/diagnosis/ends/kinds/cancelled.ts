// A person ended the job.
import { batchSystem } from '../batch-system.ts'
import { WEIGHT, place, raises, type EndKind } from '../end-kind.ts'

export const cancelled: EndKind = {
  kind: 'cancelled',
  stage: 'order',
  severity: 'info',
  claims: raises(/^KeyboardInterrupt$/, WEIGHT.message),
  title: ({ facts: { job_id: job } }) => `The job${job === undefined ? '' : ` ${job}`} was cancelled`,
  verdict: (context) => {
    const { job_id: job, exception } = context.facts
    const how = job !== undefined ? ' through the scheduler' : exception === 'KeyboardInterrupt' ? ' with Ctrl-C or SIGINT' : ''
    return `A user cancelled ${job === undefined ? 'the job' : `job ${job}`}${how}${place(context)}. It did not fail by itself.`
  },
  remedies: ({ facts: { job_id: job }, situation }) => [
    { text: 'Nothing to repair. Resume from the last checkpoint, if it should go on.' },
    job !== undefined && { text: 'See who cancelled it, and when.', command: batchSystem(situation, job).record(job) },
  ],
}
