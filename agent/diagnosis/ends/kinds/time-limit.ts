// The job reached its time limit.
import type { EndKind } from '../end-kind.ts'

export const timeLimit: EndKind = {
  kind: 'time_limit',
  stage: 'order',
  severity: 'warning',
  title: ({ facts: { job_id: job } }) => `The job${job === undefined ? '' : ` ${job}`} reached its time limit`,
  verdict: ({ facts: { job_id: job } }) =>
    `The job${job === undefined ? '' : ` ${job}`} ran into its time limit and was ended. It did not fail by itself; what came after its last checkpoint is lost.`,
  remedies: ({ facts: { job_id: job }, situation }) => [
    {
      text: 'Save a checkpoint before the limit, and let the job resume from it.',
      ...(situation.programs.has('slurm') || job !== undefined ? { command: 'sbatch --signal=B:USR1@300 --requeue <SCRIPT>' } : {}),
    },
    job !== undefined
      ? { text: 'Or ask for more time, within what the partition allows.', command: 'sbatch --time=<HOURS>:00:00 <SCRIPT>' }
      : { text: 'Or raise the limit (activeDeadlineSeconds, timeout, walltime).' },
  ],
}
