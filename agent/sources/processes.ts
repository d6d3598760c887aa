// Processes outside of containers that hold GPU memory: by whom and by which command each was started, and when that has ended.
import { createLineageReader } from '../attribution/lineage.ts'
import { readSmallFile } from '../attribution/small-file.ts'
import type { ProcessEvent, SlurmDetails } from '../model/event.ts'
import type { IdentifyProcess } from '../model/identity.ts'
import type { JobInterest } from '../model/job.ts'
import type { Source } from '../model/source.ts'
import { createRunner } from './nvidia-smi/run.ts'
import { createEndings } from './processes/endings.ts'
import { createSlurmBook, slurmEnvironment } from './processes/slurm-details.ts'
import { defineSource } from './definition.ts'

export type ProcessesOptions = {
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly jobs: Pick<JobInterest, 'strangers' | 'unidentified' | 'onStrangers' | 'roots'>
  /** Slurm and systemd, by their own programs. */
  readonly asksSchedulers: boolean
}

const ASKING = { deadlineMs: 2_000, maxBytes: 256 * 1024 }
/** A systemd service; a login session or a scope is no job, what was started in it is. */
const SERVICE = /\.service$/

export function createProcessesSource({ procRoot, identify, jobs, asksSchedulers }: ProcessesOptions): Source {
  const lineageOf = createLineageReader(procRoot)
  const runner = createRunner(ASKING)
  const details = createRunner(ASKING)
  const slurm = createSlurmBook(asksSchedulers ? details.run : undefined)
  const environmentOf = (pid: number): SlurmDetails => {
    try {
      return slurmEnvironment(readSmallFile(`${procRoot}/${pid}/environ`))
    } catch {
      return {}
    }
  }
  const endings = createEndings(asksSchedulers ? runner.run : undefined)
  let soon: NodeJS.Immediate | undefined
  return {
    id: 'processes',
    metrics: [],
    start({ emit, every }) {
      const lookUp = (t: number): void => {
        for (const pid of jobs.strangers()) {
          const who = identify(pid)
          const lineage = who === undefined || who.container !== undefined ? undefined : lineageOf(pid)
          if (who === undefined || lineage === undefined) {
            jobs.unidentified(pid)
            continue
          }
          const { slurmJob, unit } = who
          const seen: ProcessEvent = {
            type: 'process',
            t,
            action: 'seen',
            pid,
            ...lineage,
            ...(slurmJob === undefined ? {} : { ...environmentOf(pid), slurm_job: slurmJob }),
            ...(unit === undefined || !SERVICE.test(unit) ? {} : { unit }),
          }
          emit(seen)
          // The controller knows more, and answers later.
          if (slurmJob !== undefined) slurm.ask(slurmJob, (known) => emit({ ...seen, ...known, t: Date.now() }))
        }
      }
      // At once: a process may end before the next second. After the readings that it came with.
      jobs.onStrangers(() => {
        soon ??= setImmediate(() => {
          soon = undefined
          lookUp(Date.now())
        })
      })
      every(1_000, (t) => {
        lookUp(t)
        const gone = jobs.roots().filter(({ pid, startTicks }) => identify(pid)?.startTicks !== startTicks)
        for (const { root, reported } of endings.settled(gone, t)) {
          const { by, words = '', ...end } = reported ?? {}
          emit({
            type: 'process',
            t,
            action: 'exit',
            pid: root.pid,
            root: { pid: root.pid, start_ticks: root.startTicks, command: '' },
            ancestors: [],
            ...(by === undefined ? {} : { reported_by: by, reported_words: words }),
            ...end,
          })
        }
      })
    },
    stop() {
      clearImmediate(soon)
      runner.stop()
      details.stop()
    },
  }
}

export const processes = defineSource({
  id: 'processes',
  metrics: [],
  needs: ['config', 'identify', 'jobs'],
  create: ({ config, identify, jobs }) =>
    config.simulate.scenario === 'off'
      ? createProcessesSource({ procRoot: config.host.proc_root, identify, jobs, asksSchedulers: config.host.ask_schedulers })
      : undefined,
})
