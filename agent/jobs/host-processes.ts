// Runs outside of containers: sessions, Slurm jobs, units, and commands under `warpwatch exec`. They end with the processes that began them.
import type { ExecEvent, ProcessEvent } from '../model/event.ts'
import type { Root } from '../model/job.ts'
import { LOG_KINDS } from '../model/kinds.ts'
import type { Series } from '../model/series.ts'
import { execJob, processJob } from './identity.ts'
import { rootKey, type EndCause, type LiveRun } from './live-run.ts'
import { KEPT_MS, type Runs } from './runs.ts'

export type HostRuns = {
  readonly process: (event: ProcessEvent) => void
  readonly exec: (event: ExecEvent) => void
  /** Of a process; undefined until it is known who started it. */
  readonly ofProcess: (series: Series) => LiveRun | undefined
  /** Whether this process was first seen so recently that the answer is still to come. */
  readonly isAwaited: (series: Series) => boolean
  /** Nothing more will be known of it. */
  readonly unidentified: (pid: number) => void
  /** The run that a process of this number belonged to when the agent ended; of one that cannot be identified any more. */
  readonly before: (series: Series) => LiveRun | undefined
  readonly restore: (pids: readonly number[], key: string) => void
  readonly strangers: () => readonly number[]
  readonly onStrangers: (ask: () => void) => void
  readonly tick: (t: number) => void
}

/** `exec` says how its command ended; when its process has gone without a word, so long later. */
const EXEC_SILENT_MS = 3_000
const MAX_STRANGERS = 1_000
/** Who a process belongs to is looked up once a second; on a machine that is short of CPU some seconds are missed. */
const ANSWER_MS = 5_000

function causeIn({ cause_kind: kind, cause_title: title }: ExecEvent): EndCause | undefined {
  const known = LOG_KINDS.find((one) => one === kind)
  return known === undefined || title === undefined ? undefined : { kind: known, title }
}

export const execKey = (id: string): string => `x:${id}`

export function createHostRuns(runs: Runs): HostRuns {
  const { running, pids, roots } = runs
  /** Not yet looked up, with the time at which each was first seen. */
  let strangers = new Map<number, number>()
  const asked = new Map<number, number>()
  /** Of those that were asked for. */
  const unknown = new Set<number>()
  const formerly = new Map<number, string>()
  let beganAt: number | undefined
  let now = 0
  let ask: (() => void) | undefined
  const addRoot = (run: LiveRun, root: Root): void => {
    run.roots.set(rootKey(root), root)
    roots.set(rootKey(root), run.key)
  }
  const execOf = (pid: number): LiveRun | undefined => {
    for (const run of running.values()) if (run.identity.kind === 'exec' && run.identity.pid === pid) return run
    return undefined
  }
  const keyOf = ({ slurm_job: slurm, unit, root }: ProcessEvent): string =>
    slurm !== undefined ? `s:${slurm}` : unit !== undefined ? `u:${unit}` : `p:${root.pid}:${root.start_ticks}`
  const seen = (event: ProcessEvent, root: Root): void => {
    const { t, pid, ancestors } = event
    const byExec = [pid, ...ancestors].map(execOf).find((run) => run !== undefined)
    const key = byExec?.key ?? keyOf(event)
    const { started_at: startedAt } = event.root
    const run = byExec ?? running.get(key) ?? runs.open(key, processJob(event), { at: startedAt ?? t, before: startedAt === undefined }, t)
    if (run === undefined) return
    // What the scheduler says of it may come after its start.
    if (run.identity.kind === 'slurm') {
      const { pid: first = root.pid, command = event.root.command } = run.identity
      const isNamed = event.slurm_name !== undefined
      run.identity = { ...run.identity, ...processJob(event), pid: first, command, ...(isNamed ? {} : { job: run.identity.job }) }
      run.isDirty = true
    }
    run.isRestored = false
    pids.set(pid, key)
    if (byExec === undefined) addRoot(run, root)
  }
  const gone = (root: Root, { t, reported_by: by, reported_words: words = '', outcome, exit_code: exitCode, signal }: ProcessEvent): void => {
    const run = runs.ofRoot(rootKey(root))
    if (run === undefined) return
    run.roots.delete(rootKey(root))
    roots.delete(rootKey(root))
    if (run.roots.size > 0) return
    if (run.identity.kind === 'exec') run.lastRootAt = t
    else runs.close(run, { t: run.isRestored ? run.seenAt : t, exitCode, signal, reported: by === undefined ? undefined : { by, words, outcome } })
  }
  /** The command may hold a GPU before its wrapper was heard: then its processes were taken for those of a session. */
  const askAgain = (): void => {
    for (const [pid, key] of pids) {
      if (running.get(key)?.identity.kind !== 'session') continue
      pids.delete(pid)
      asked.delete(pid)
    }
  }
  return {
    process(event) {
      const root = { pid: event.root.pid, startTicks: event.root.start_ticks }
      if (event.action === 'exit') gone(root, event)
      else seen(event, root)
    },
    exec(event) {
      const { t, action, id, pid, start_ticks: startTicks, exit_code: exitCode, signal } = event
      const key = execKey(id)
      const known = running.get(key)
      if (action === 'end') {
        if (known !== undefined) runs.close(known, { t, exitCode, signal, cause: causeIn(event) })
        return
      }
      if (known === undefined) askAgain()
      const run = known ?? runs.open(key, execJob(event), { at: t, before: false }, t)
      if (run !== undefined && startTicks !== undefined) addRoot(run, { pid, startTicks })
    },
    ofProcess({ labels }) {
      const pid = Number(labels['pid'])
      const key = pids.get(pid)
      if (key !== undefined) return running.get(key)
      if (asked.has(pid) || strangers.has(pid) || strangers.size >= MAX_STRANGERS) return undefined
      strangers.set(pid, now)
      ask?.()
      return undefined
    },
    isAwaited({ labels }) {
      const pid = Number(labels['pid'])
      const since = strangers.get(pid) ?? asked.get(pid)
      return since !== undefined && Math.abs(now - since) <= ANSWER_MS && !unknown.has(pid)
    },
    unidentified: (pid) => void unknown.add(pid),
    before({ labels }) {
      const key = formerly.get(Number(labels['pid']))
      return key === undefined ? undefined : (running.get(key) ?? runs.endedLately(key))
    },
    restore(of, key) {
      for (const pid of of) formerly.set(pid, key)
    },
    onStrangers: (of) => (ask = of),
    strangers() {
      if (strangers.size === 0) return []
      const found = [...strangers.keys()]
      for (const [pid, since] of strangers) asked.set(pid, since)
      strangers = new Map()
      return found
    },
    tick(t) {
      // The first readings may come before the first tick.
      if (now === 0) for (const since of [strangers, asked]) for (const pid of since.keys()) since.set(pid, t)
      now = t
      beganAt ??= t
      // Numbers of processes are given again.
      if (formerly.size > 0 && Math.abs(t - beganAt) > KEPT_MS) formerly.clear()
      for (const [pid, at] of asked) {
        if (Math.abs(t - at) <= KEPT_MS) continue
        asked.delete(pid)
        unknown.delete(pid)
      }
      for (const run of running.values()) {
        const { lastRootAt, isRestored, seenAt } = run
        if (lastRootAt !== undefined && Math.abs(t - lastRootAt) > EXEC_SILENT_MS) runs.close(run, { t: isRestored ? seenAt : lastRootAt })
      }
    },
  }
}
