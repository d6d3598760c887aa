// Every job that may stop, and its newest sign of progress: its own words where it says any, else that its GPUs compute.
import type { RunningRun } from '../../model/job.ts'
import type { JobProgress } from '../logs/progress-book.ts'
import type { GpuState } from './gpu-loads.ts'

export type WatchedJob = {
  readonly name: string
  readonly by: 'log' | 'gpu'
  /** As the log book names it. */
  readonly key: string
  readonly container?: string
  readonly path?: string
  readonly run?: RunningRun
  readonly progressedAt: number
  /** How often its step rose; for one known by its log. */
  readonly rises?: number
  /** Its GPUs compute now, or that is not known; for one known by its GPUs only. */
  readonly computes?: boolean
  /** How long its GPUs have computed since they were first seen, ms. */
  readonly worked?: number
  /** It has done what it was to do. */
  readonly done: boolean
  readonly busyWith?: string
}

/** What a job says it does beside training; long by nature. */
const LONG_PHASES: ReadonlySet<string> = new Set(['loading', 'downloading', 'preparing', 'evaluating', 'saving'])
const IDLE_BUSY = 0.05
/** A GPU that reads or writes its memory so much of the time computes. */
const WORKS_MEMORY = 0.05

const isDone = ({ progress: { step, total, epoch, epochs } }: JobProgress): boolean =>
  step !== undefined && total !== undefined && step >= total && !(epoch !== undefined && epochs !== undefined && epoch < epochs)

export function jobsNow(t: number, said: readonly JobProgress[], running: readonly RunningRun[], gpus: ReadonlyMap<string, GpuState>): readonly WatchedJob[] {
  const jobs = new Map<string, WatchedJob>()
  for (const one of said) {
    const before = jobs.get(one.job)
    const run = running.find(({ container }) => container === one.job)
    const isPath = one.job.startsWith('/')
    const { phase } = one.progress
    // A job does not move when none of its ranks goes on.
    jobs.set(one.job, {
      name: run?.job ?? one.job,
      by: 'log',
      key: one.job,
      ...(isPath ? { path: one.job } : { container: one.job }),
      ...(run === undefined ? {} : { run }),
      progressedAt: Math.max(one.progressedAt, before?.progressedAt ?? 0),
      rises: one.rises,
      done: isDone(one) && before?.done !== false,
      ...(phase !== undefined && LONG_PHASES.has(phase) ? { busyWith: phase } : {}),
    })
  }
  const named = new Set([...jobs.values()].map(({ run }) => run?.job_id))
  for (const run of running) {
    if (run.gpus.length === 0 || named.has(run.job_id)) continue
    named.add(run.job_id)
    const own = run.gpus.flatMap(({ uuid }) => gpus.get(uuid) ?? [])
    const spins = own.some((gpu) => gpu.spins === true)
    // Without a GPU that waits in a kernel nothing says that it should compute.
    jobs.set(`gpus ${run.job_id}`, {
      name: run.job,
      by: 'gpu',
      key: `gpus ${run.job_id}`,
      ...(run.container === undefined ? {} : { container: run.container }),
      run,
      computes: own.length < run.gpus.length || own.some((gpu) => gpu.memory >= WORKS_MEMORY || (gpu.busy >= IDLE_BUSY && gpu.spins !== true)),
      worked: Math.max(0, ...own.map(({ worked }) => worked)),
      progressedAt: spins && own.every(({ memory }) => memory < WORKS_MEMORY) ? 0 : t,
      done: false,
    })
  }
  return [...jobs.values()]
}
