// What Slurm calls the jobs that the pages know by their number, who submitted them and where: as the agent has it of their newest run. Pure.
import type { Run } from '../../../../agent/model/job.ts'
import type { JobName } from '../../parts/job/identity.ts'

/** `name`: absent until the controller or the job's environment has told it. */
export type SlurmJob = { readonly name?: string; readonly user?: string; readonly account?: string; readonly partition?: string }
/** By its number. */
export type SlurmJobs = ReadonlyMap<string, SlurmJob>

/** `older`: of runs that the list of jobs had; a run of the stream goes before it. */
export function slurmJobs(runs: readonly Run[], older: SlurmJobs = new Map()): SlurmJobs {
  const found = new Map(older)
  for (const { slurm_job: id, job, user, account, partition } of runs) {
    if (id === undefined) continue
    found.set(id, {
      ...(job === `job ${id}` ? {} : { name: job }),
      ...(user === undefined ? {} : { user }),
      ...(account === undefined ? {} : { account }),
      ...(partition === undefined ? {} : { partition }),
    })
  }
  return found
}

const of = ({ kind, name }: JobName, jobs: SlurmJobs): SlurmJob | undefined => (kind === 'slurm' ? jobs.get(name) : undefined)

/** As a heading, beside which `aboutSlurm` has the number. */
export const titleOf = (job: JobName, jobs: SlurmJobs): string => of(job, jobs)?.name ?? job.name
/** Where nothing else tells the number. */
export function fullTitleOf(job: JobName, jobs: SlurmJobs): string {
  const name = of(job, jobs)?.name
  return name === undefined ? job.name : `${name} (${job.name})`
}
/** Its number where the title is its name, who submitted it, and where; `brief`: without the words account and partition, whose names say enough to those who gave them. */
export function aboutSlurm(job: JobName, jobs: SlurmJobs, brief = false): readonly string[] {
  if (job.kind !== 'slurm') return []
  const { name, user, account, partition } = of(job, jobs) ?? {}
  return [
    name === undefined ? 'Slurm job' : `Slurm job ${job.name}`,
    ...(user === undefined ? [] : [user]),
    ...(account === undefined ? [] : [brief ? account : `account ${account}`]),
    ...(partition === undefined ? [] : [brief ? partition : `partition ${partition}`]),
  ]
}
