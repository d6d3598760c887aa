// Which batch system ran a job, and its commands: of Slurm, PBS, LSF and Grid Engine.
import type { Situation } from '../situation/situation.ts'

type BatchSystem = {
  /** What it keeps of a job that ended. */
  readonly record: (job: number) => string
  readonly moreTime: string
  /** A signal some minutes before the limit, and another start after it. */
  readonly warned: string | undefined
  readonly again: string
}

const SLURM: BatchSystem = {
  record: (job) => `sacct -j ${job} --format=JobID,State,End,ExitCode`,
  moreTime: 'sbatch --time=<HOURS>:00:00 <SCRIPT>',
  warned: 'sbatch --signal=B:USR1@300 --requeue <SCRIPT>',
  again: 'sbatch --requeue <SCRIPT>',
}
const OTHERS: readonly (readonly [RegExp, BatchSystem])[] = [
  [
    /\bPBS\b|\bMOAB_INFO\b|\bqsub\b[^\n]{0,40} -l walltime/,
    { record: (job) => `qstat -xf ${job}`, moreTime: 'qsub -l walltime=<HOURS>:00:00 <SCRIPT>', warned: undefined, again: 'qsub -r y <SCRIPT>' },
  ],
  [
    /\bTERM_(?:RUNLIMIT|MEMLIMIT|OWNER|ADMIN|PREEMPT)\b|\bLSBATCH\b|\bLSF\b|\bbsub\b/,
    { record: (job) => `bhist -l ${job}`, moreTime: 'bsub -W <HOURS>:00 < <SCRIPT>', warned: 'bsub -wa USR1 -wt 5 -r < <SCRIPT>', again: 'bsub -r < <SCRIPT>' },
  ],
  [
    /\bGrid Engine\b|\bqacct\b|^Job(?:-array task)? \d{1,12}(?:\.\d{1,9})? \(\S{1,80}\) (?:Aborted|Complete)/m,
    { record: (job) => `qacct -j ${job}`, moreTime: 'qsub -l h_rt=<HOURS>:00:00 <SCRIPT>', warned: 'qsub -notify -r y <SCRIPT>', again: 'qsub -r y <SCRIPT>' },
  ],
]

/** Slurm, where the text names no other one; undefined where it gives no number of a job either. */
export function batchSystem({ text }: Pick<Situation, 'text'>, job: number): BatchSystem
export function batchSystem({ text }: Pick<Situation, 'text'>, job: number | undefined): BatchSystem | undefined
export function batchSystem({ text }: Pick<Situation, 'text'>, job: number | undefined): BatchSystem | undefined {
  const slurm = /slurm|srun|sbatch|\*{3} (?:JOB|STEP) \d/i.test(text)
  const other = slurm ? undefined : OTHERS.find(([pattern]) => pattern.test(text))?.[1]
  return other ?? (slurm || job !== undefined ? SLURM : undefined)
}
