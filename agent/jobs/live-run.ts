// A run while it is tracked, from its first sight until a moment after its end: what is known of it so far, and its row as everybody reads it.
import type { JobIdentity, Outcome, Root, Run, RunIncident, StoredAs, StoredRun } from '../model/job.ts'
import type { IncidentKind } from '../model/kinds.ts'
import { outcomeOf, type EndVerdict, type SentSignal, type ReportedOutcome } from './outcome.ts'
import { createUsage, type Usage } from './usage.ts'

export type LiveRun = {
  /** One life: a container's id, the first process, the id of an `exec`. */
  readonly key: string
  identity: JobIdentity
  run: number
  /** What it was stored as before its job was known. */
  former: readonly StoredAs[]
  /** When it was first seen, of one whose start no engine has told. */
  sightedAt: number | undefined
  readonly startedAt: number
  readonly startedBefore: boolean
  readonly usage: Usage
  seenAt: number
  /** Its processes on GPUs, each with when it was last listed. */
  readonly pids: Map<number, number>
  /** It was open when the agent ended, and nobody has seen it since. */
  isRestored: boolean
  memoryPeak: number | undefined
  tokens: number
  /** A list of running containers has named it. */
  wasListed: boolean
  /** When its engine did not list it any more. */
  absentSince: number | undefined
  oomKills: number | undefined
  oomKilledAt: number | undefined
  readonly sent: SentSignal[]
  /** By the kernel's log: a process of it crashed. */
  crash: Crash | undefined
  savedAt: number | undefined
  readonly incidents: Map<string, SeenIncident>
  /** Outside of containers: the processes with whose end it ends, by pid and start. */
  readonly roots: Map<string, Root>
  /** The process of `warpwatch exec` has gone, which has not said how the command ended. */
  lastRootAt: number | undefined
  end: RunEnd | undefined
  verdict: EndVerdict | undefined
  /** Something happened to it: to be stored at once. */
  isDirty: boolean
  /** Only its figures have moved, as they do each second: to be stored now and then. */
  hasMoved: boolean
}
export type Crash = { readonly t: number; readonly signal: string }
export type SeenIncident = RunIncident & {
  readonly startedAt: number
  readonly lastSeenAt: number
  /** It followed from another one. */
  readonly isEffect: boolean
  /** Programs end of it. */
  readonly isFatal: boolean
  readonly signal?: string
}
export type RunEnd = {
  readonly t: number
  readonly exitCode?: number | undefined
  readonly signal?: string | undefined
  readonly reported?: ReportedOutcome | undefined
  readonly startError?: string | undefined
  /** What ended it, as its own output says. */
  readonly cause?: EndCause | undefined
}
export type EndCause = { readonly kind: IncidentKind; readonly title: string }

/** A container whose engine sends a hundred signals is asked to reload, not to end. */
const MAX_SENT = 16
const MAX_INCIDENTS = 16
/** Ranks wait for a dead one until a time-out of NCCL, 10 minutes by default; what was longer ago the run has survived. */
const CAUSE_WITHIN_MS = 11 * 60_000

/** Processes on GPUs are listed each second; one that is not has ended. */
const LISTED_MS = 5_000
/** A rank that crashed takes the others down with it. */
const CRASH_WITHIN_MS = 60_000

export function openRun(key: string, identity: JobIdentity, run: number, startedAt: number, startedBefore: boolean, t: number): LiveRun {
  return { ...blank(), key, identity, run, startedAt, startedBefore, usage: createUsage(), seenAt: t, isRestored: false }
}
export const rootKey = ({ pid, startTicks }: Root): string => `${pid}:${startTicks}`

/** One that was open when the agent ended. */
export function restoredRun({ key, roots, row: run, countedTo = run.seen_at }: StoredRun): LiveRun {
  const { run: number, started_at: startedAt, seen_at: seenAt, gpus, incidents } = run
  const live: LiveRun = {
    ...blank(),
    key,
    identity: identityOf(run),
    run: number,
    startedAt,
    startedBefore: run.started_before === true,
    usage: createUsage(gpus, run.gpu_memory_peak_bytes, countedTo),
    seenAt,
    isRestored: true,
    isDirty: false,
    memoryPeak: run.memory_peak_bytes,
    tokens: run.tokens ?? 0,
    savedAt: run.saved_at,
  }
  for (const root of roots) live.roots.set(rootKey(root), root)
  for (const incident of incidents) live.incidents.set(incident.id, { ...incident, startedAt, lastSeenAt: seenAt, isEffect: false, isFatal: true })
  return live
}
/** With what is needed to go on with it after the agent was killed. */
export function storedRun(run: LiveRun): StoredRun {
  for (const [pid, t] of run.pids) if (run.seenAt - t > LISTED_MS) run.pids.delete(pid)
  const countedTo = run.usage.countedTo()
  return {
    key: run.key,
    roots: [...run.roots.values()],
    row: rowOf(run),
    ...(countedTo === undefined ? {} : { countedTo }),
    ...(run.pids.size === 0 ? {} : { pids: [...run.pids.keys()] }),
    ...(run.former.length === 0 ? {} : { former: run.former }),
  }
}
const blank = () => ({
  former: [],
  sightedAt: undefined,
  pids: new Map(),
  memoryPeak: undefined,
  tokens: 0,
  wasListed: false,
  absentSince: undefined,
  oomKills: undefined,
  oomKilledAt: undefined,
  sent: [],
  crash: undefined,
  savedAt: undefined,
  incidents: new Map(),
  roots: new Map(),
  lastRootAt: undefined,
  end: undefined,
  verdict: undefined,
  isDirty: true,
  hasMoved: false,
})

/** What may be known of a job beside its id, name and kind; one that is forgotten here does not compile. */
const OPTIONAL: Record<Exclude<keyof JobIdentity, 'job_id' | 'job' | 'kind'>, true> = {
  user: true,
  uid: true,
  namespace: true,
  container: true,
  container_id: true,
  image: true,
  slurm_job: true,
  account: true,
  partition: true,
  time_limit_seconds: true,
  gpus_requested: true,
  unit: true,
  pid: true,
  command: true,
}

function identityOf(run: Run): JobIdentity {
  const known = Object.entries(run).filter(([key, value]) => key in OPTIONAL && value !== undefined)
  return { job_id: run.job_id, job: run.job, kind: run.kind, ...Object.fromEntries(known) }
}

export function signalSent(run: LiveRun, sent: SentSignal): void {
  if (run.sent.length >= MAX_SENT) run.sent.shift()
  run.sent.push(sent)
  if (run.end !== undefined) evaluate(run)
}
export function addIncident(run: LiveRun, incident: SeenIncident): void {
  if (!run.incidents.has(incident.id) && run.incidents.size >= MAX_INCIDENTS) return
  run.incidents.set(incident.id, incident)
  run.isDirty = true
  if (run.end !== undefined) evaluate(run)
}
export function crashed(run: LiveRun, crash: Crash): void {
  run.crash = crash
  if (run.end !== undefined) evaluate(run)
}
export function endRun(run: LiveRun, end: RunEnd): void {
  run.end = end
  run.seenAt = Math.max(run.seenAt, end.t)
  evaluate(run)
}

/** The cause first: what led to others, then what began first. */
const ordered = (run: LiveRun) => [...run.incidents.values()].sort((a, b) => Number(a.isEffect) - Number(b.isEffect) || a.startedAt - b.startedAt)

function evaluate(run: LiveRun): void {
  if (run.end === undefined) return
  const { end } = run
  const causes = ordered(run).filter(({ isFatal, lastSeenAt }) => isFatal && end.t - lastSeenAt <= CAUSE_WITHIN_MS)
  const crash = run.crash !== undefined && Math.abs(end.t - run.crash.t) <= CRASH_WITHIN_MS ? run.crash.signal : undefined
  const signal = end.signal ?? (end.exitCode === undefined ? (causes.find((one) => one.signal !== undefined)?.signal ?? crash) : undefined)
  run.verdict = outcomeOf({
    ...end,
    signal,
    sent: run.sent,
    oomKilledAt: run.oomKilledAt,
    kinds: [...(end.cause === undefined ? [] : [end.cause.kind]), ...causes.map(({ kind }) => kind)],
    title: end.cause?.title,
  })
  run.isDirty = true
}

/** What ended so has done its work, or was ended by whoever knew what that costs. */
const KEPT: ReadonlySet<Outcome> = new Set(['completed', 'cancelled', 'unknown'])

export function rowOf(run: LiveRun): Run {
  const { identity, end, verdict, usage, memoryPeak, startedAt, tokens } = run
  const { active, idle, joules } = usage.totals()
  const lost = end === undefined || verdict === undefined || KEPT.has(verdict.outcome) ? 0 : usage.since(run.savedAt ?? startedAt, end.t)
  const gpuPeak = usage.memoryPeak()
  const thousandth = (value: number): number => Math.round(value * 1_000) / 1_000
  return {
    ...identity,
    run: run.run,
    started_at: startedAt,
    ...(run.startedBefore ? { started_before: true as const } : {}),
    ...(run.savedAt === undefined ? {} : { saved_at: run.savedAt }),
    ...(end === undefined ? {} : { ended_at: end.t }),
    seen_at: run.seenAt,
    ...(verdict === undefined ? {} : { outcome: verdict.outcome, reason: verdict.reason }),
    ...(end?.exitCode === undefined ? {} : { exit_code: end.exitCode }),
    ...(verdict?.signal === undefined ? {} : { signal: verdict.signal }),
    ...(verdict?.sentBy === undefined ? {} : { sent_by: verdict.sentBy }),
    gpus: usage.rows(),
    gpu_seconds: { active: thousandth(active), idle: thousandth(idle), lost: thousandth(lost) },
    ...(joules === undefined ? {} : { energy_joules: Math.round(joules) }),
    ...(tokens === 0 ? {} : { tokens }),
    ...(memoryPeak === undefined ? {} : { memory_peak_bytes: memoryPeak }),
    ...(gpuPeak === undefined ? {} : { gpu_memory_peak_bytes: gpuPeak }),
    incidents: ordered(run).map(({ id, kind, title }) => ({ id, kind, title })),
  }
}
