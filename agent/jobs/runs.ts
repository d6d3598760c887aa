// The runs that are tracked: those that go on, and those that ended within the last minute, which late lines and incidents may still explain.
import type { JobFigures, JobIdentity } from '../model/job.ts'
import { endRun, openRun, rowOf, type LiveRun, type RunEnd } from './live-run.ts'
import { createTotals } from './totals.ts'

export type Runs = {
  readonly running: Map<string, LiveRun>
  readonly all: () => readonly LiveRun[]
  /** undefined: the host runs more than is tracked. */
  readonly open: (key: string, identity: JobIdentity, start: { readonly at: number; readonly before: boolean }, t: number) => LiveRun | undefined
  /** It belongs to this job, as is known now: it gets the job's next number. */
  readonly identify: (run: LiveRun, identity: JobIdentity) => void
  readonly close: (run: LiveRun, end: RunEnd) => void
  /** The newest one of that key which ended lately. */
  readonly endedLately: (key: string) => LiveRun | undefined
  /** The one of that key and moment: a restarted container has several. */
  readonly at: (key: string, t: number) => LiveRun | undefined
  readonly ofPid: (pid: number) => string | undefined
  readonly ofRoot: (root: string) => LiveRun | undefined
  /** Processes of runs outside of containers. */
  readonly pids: Map<number, string>
  readonly roots: Map<string, string>
  readonly tick: (t: number) => void
  readonly figures: (running: Iterable<LiveRun>) => Omit<JobFigures, 'use'>
}

/** Late log lines and incidents still belong to a run that ended so long ago. */
export const KEPT_MS = 60_000
/** An end that may still be explained otherwise is not counted before. */
const SETTLED_MS = 10_000
/** More than a host runs at once. */
const MAX_RUNNING = 5_000

export function createRuns(nextRun: (jobId: string) => number): Runs {
  const running = new Map<string, LiveRun>()
  /** Newest last. */
  let ended: LiveRun[] = []
  let unsettled: LiveRun[] = []
  const totals = createTotals()
  const pids = new Map<number, string>()
  const roots = new Map<string, string>()
  let gonePids: { readonly pid: number; readonly key: string; readonly t: number }[] = []
  return {
    running,
    pids,
    roots,
    all: () => [...running.values(), ...ended],
    open(key, identity, { at, before }, t) {
      if (running.size >= MAX_RUNNING) return undefined
      const run = openRun(key, identity, nextRun(identity.job_id), at, before, t)
      running.set(key, run)
      return run
    },
    identify(run, identity) {
      if (identity.job_id !== run.identity.job_id) {
        run.former = [...run.former, { job_id: run.identity.job_id, run: run.run }]
        run.run = nextRun(identity.job_id)
        run.isDirty = true
      }
      run.identity = identity
    },
    close(run, end) {
      running.delete(run.key)
      for (const root of run.roots.keys()) roots.delete(root)
      for (const [pid, key] of pids) {
        if (key !== run.key) continue
        pids.delete(pid)
        gonePids.push({ pid, key, t: end.t })
      }
      endRun(run, end)
      ended.push(run)
      unsettled.push(run)
    },
    endedLately: (key) => ended.findLast((run) => run.key === key),
    at: (key, t) => [running.get(key), ...ended.toReversed().filter((run) => run.key === key)].find((run) => run !== undefined && run.startedAt <= t),
    ofPid: (pid) => pids.get(pid) ?? gonePids.findLast((gone) => gone.pid === pid)?.key,
    ofRoot: (root) => running.get(roots.get(root) ?? ''),
    tick(t) {
      if (unsettled.length > 0)
        unsettled = unsettled.filter((run) => {
          const isSettled = run.end === undefined || Math.abs(t - run.end.t) > SETTLED_MS
          // By then the look that came after its end has counted its last part.
          if (isSettled) {
            totals.use(run)
            totals.settle(rowOf(run))
          }
          return !isSettled
        })
      if (ended.length > 0) ended = ended.filter(({ end, isDirty }) => isDirty || (end !== undefined && Math.abs(t - end.t) <= KEPT_MS))
      if (gonePids.length > 0) gonePids = gonePids.filter((gone) => Math.abs(t - gone.t) <= KEPT_MS)
    },
    figures: (of) => totals.figures(of, unsettled),
  }
}
