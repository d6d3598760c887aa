// What the metrics count of jobs since the agent started: runs by outcome, GPU seconds, energy. Bounded: jobs of which nothing was seen for longest go first.
import type { JobFigures, JobTotals, Outcome, Run } from '../model/job.ts'
import { rowOf, type LiveRun } from './live-run.ts'

type Total = { runs: Map<Outcome, number>; active: number; idle: number; lost: number; hasGpu: boolean; joules: number | undefined }

/** One series for each job and state: more would be a burden for Prometheus. */
const MAX_JOBS = 500

export function createTotals() {
  /** Of runs that have ended, by the name of the job. */
  const past = new Map<string, Total>()
  const of = (id: string): Total => {
    const total = past.get(id) ?? { runs: new Map(), active: 0, idle: 0, lost: 0, hasGpu: false, joules: undefined }
    past.delete(id)
    past.set(id, total)
    const oldest = past.size > MAX_JOBS ? past.keys().next().value : undefined
    if (oldest !== undefined) past.delete(oldest)
    return total
  }
  return {
    /** A run has ended, and all that it used is counted. */
    use(run: LiveRun): void {
      // Rounded as while it was running: a counter must not fall.
      const { job, gpu_seconds: seconds, energy_joules: joules, gpus } = rowOf(run)
      const total = of(job)
      total.active += seconds.active
      total.idle += seconds.idle
      total.hasGpu ||= gpus.length > 0
      if (joules !== undefined) total.joules = (total.joules ?? 0) + joules
    },
    /** Its outcome stays as it is. */
    settle({ outcome, gpu_seconds: seconds, job }: Run): void {
      if (outcome === undefined) return
      const total = of(job)
      total.runs.set(outcome, (total.runs.get(outcome) ?? 0) + 1)
      total.lost += seconds.lost
    },
    /** `ended`: lately, and not given to `use` yet. */
    figures(running: Iterable<LiveRun>, ended: readonly LiveRun[]): Omit<JobFigures, 'use'> {
      const totals = new Map<string, JobTotals>()
      for (const [job, { runs, active, idle, lost, hasGpu, joules }] of past)
        totals.set(job, { runs, gpuSeconds: { active, idle, lost }, hasGpu, ...(joules === undefined ? {} : { energyJoules: joules }) })
      const rows = [...running].map(rowOf)
      for (const { job, gpu_seconds: now, energy_joules: joules, gpus } of [...rows, ...ended.map(rowOf)]) {
        const before = totals.get(job)
        const energy = before?.energyJoules === undefined && joules === undefined ? undefined : (before?.energyJoules ?? 0) + (joules ?? 0)
        const sum = before?.gpuSeconds ?? { active: 0, idle: 0, lost: 0 }
        totals.set(job, {
          runs: before?.runs ?? new Map(),
          gpuSeconds: { active: sum.active + now.active, idle: sum.idle + now.idle, lost: sum.lost },
          hasGpu: before?.hasGpu === true || gpus.length > 0,
          ...(energy === undefined ? {} : { energyJoules: energy }),
        })
      }
      return { running: rows, totals }
    },
  }
}
