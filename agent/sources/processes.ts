// Processes outside of containers that hold GPU memory: by whom and by which command each was started, and when that has ended.
import { createLineageReader, slurmJobName } from '../attribution/lineage.ts'
import type { IdentifyProcess } from '../model/identity.ts'
import type { JobInterest } from '../model/job.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'

export type ProcessesOptions = { readonly procRoot: string; readonly identify: IdentifyProcess; readonly jobs: Pick<JobInterest, 'strangers' | 'roots'> }

/** A systemd service; a login session or a scope is no job, what was started in it is. */
const SERVICE = /\.service$/

export function createProcessesSource({ procRoot, identify, jobs }: ProcessesOptions): Source {
  const lineageOf = createLineageReader(procRoot)
  return {
    id: 'processes',
    metrics: [],
    start({ emit, every }) {
      every(1_000, (t) => {
        for (const pid of jobs.strangers()) {
          const who = identify(pid)
          const lineage = who === undefined || who.container !== undefined ? undefined : lineageOf(pid)
          if (who === undefined || lineage === undefined) continue
          const { slurmJob, unit } = who
          const name = slurmJob === undefined ? undefined : slurmJobName(procRoot, pid)
          emit({
            type: 'process',
            t,
            action: 'seen',
            pid,
            ...lineage,
            ...(slurmJob === undefined ? {} : { slurm_job: slurmJob }),
            ...(name === undefined ? {} : { slurm_name: name }),
            ...(unit === undefined || !SERVICE.test(unit) ? {} : { unit }),
          })
        }
        for (const { pid, startTicks } of jobs.roots())
          if (identify(pid)?.startTicks !== startTicks)
            emit({ type: 'process', t, action: 'exit', pid, root: { pid, start_ticks: startTicks, command: '' }, ancestors: [] })
      })
    },
    stop: () => {},
  }
}

export const processes = defineSource({
  id: 'processes',
  metrics: [],
  needs: ['config', 'identify', 'jobs'],
  create: ({ config, identify, jobs }) =>
    config.simulate.scenario === 'off' ? createProcessesSource({ procRoot: config.host.proc_root, identify, jobs }) : undefined,
})
