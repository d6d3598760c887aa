// Follows every job of the host by the pipeline's events: opens a run when something starts, counts what it uses, closes it with its outcome.
// Pure: time comes with the events and ticks.
import { isProgressMark } from '../diagnosis/progress-marks.ts'
import type { Event, LogLine } from '../model/event.ts'
import type { IncidentSummary } from '../model/incident.ts'
import type { JobFigures, JobInterest, StoredRun } from '../model/job.ts'
import type { CardCheckpoint } from '../model/ledger.ts'
import { kindOf, type IncidentKind } from '../model/kinds.ts'
import { isLogKind } from '../model/log-kinds.ts'
import { parseKernelCrash } from '../text/kernel-crash.ts'
import { containerKey, createContainerRuns } from './containers.ts'
import { createHostRuns } from './host-processes.ts'
import { createLedgerBook, type LedgerBook } from './ledger/book.ts'
import { createLooks } from './ledger/looks.ts'
import { addIncident, crashed, restoredRun, storedRun, type LiveRun } from './live-run.ts'
import { createJobReadings } from './readings.ts'
import { createRuns, KEPT_MS } from './runs.ts'

export type JobTracker = JobInterest & {
  readonly ingest: (event: Event) => void
  readonly incident: (incident: IncidentSummary) => void
  readonly tick: (t: number) => void
  /** Those to which something happened since the last call, as they are to be stored; with `moved` also those of which only the figures have moved. */
  readonly changed: (moved: boolean) => readonly StoredRun[]
  /** Those of which only the figures have moved since then. */
  readonly moved: () => readonly StoredRun[]
  readonly figures: () => JobFigures
  /** Running, and those that ended within the last minute. */
  readonly live: () => readonly LiveRun[]
  /** `checkpoints`: where the counting of each GPU stood. */
  readonly restore: (runs: readonly StoredRun[], checkpoints?: readonly CardCheckpoint[]) => void
  /** What was used and by whom, to be written to the ledger. */
  readonly ledger: LedgerBook
}
export type JobTrackerOptions = {
  /** The number of the next run of a job. */
  readonly nextRun: (jobId: string) => number
  /** What counts use; a bench leaves it out to see what it costs. */
  readonly looksOf?: typeof createLooks
}

/** After a start of the agent: who was not seen again by then has gone. */
const RESTORE_MS = 60_000
const LATE_INCIDENT_MS = 15_000

/** Losing the GPU ends a program, though numbers show it. */
const ENDS_RUNS: ReadonlySet<IncidentKind> = new Set<IncidentKind>(['gpu_missing', 'container_lost_gpu', 'gpu_lost'])
const isFatal = (kind: IncidentKind): boolean => ENDS_RUNS.has(kind) || (isLogKind(kind) && kindOf(kind).crash?.fatal !== false)

/** A process of the host becomes a run because it holds a GPU; until the next reading says which one, the run would be told as one without. */
const isKnown = ({ identity: { kind, container_id: container }, usage }: LiveRun): boolean => container !== undefined || kind === 'exec' || !usage.isEmpty()

export function createJobTracker({ nextRun, looksOf = createLooks }: JobTrackerOptions): JobTracker {
  const runs = createRuns(nextRun)
  const containers = createContainerRuns(runs)
  const host = createHostRuns(runs)
  const ledger = createLedgerBook()
  const readings = createJobReadings(runs, containers, host, ledger, looksOf)
  const { running } = runs
  let beganAt: number | undefined

  const onKernel = ({ t, text }: LogLine): void => {
    const crash = parseKernelCrash(text)
    const key = crash === undefined ? undefined : runs.ofPid(crash.pid)
    const run = key === undefined ? undefined : runs.at(key, t)
    if (run !== undefined && crash !== undefined) crashed(run, { t, signal: crash.signal })
  }
  const onLog = ({ t, origin: { container_id: id }, text }: LogLine): void => {
    const run = id === undefined ? undefined : running.get(containerKey(id))
    if (run !== undefined && !run.usage.isEmpty() && isProgressMark(text)) run.savedAt = t
  }
  /** In the millisecond in which a run begins no fault of it can have been reported: it is of the one before, where there was one. */
  const hitAt = (key: string, t: number): LiveRun | undefined => runs.at(key, t - 1) ?? runs.at(key, t)
  const hitBy = ({
    kind,
    subject: { container, process, gpu },
    started_at: from,
    last_seen_at: to,
    occurred_at: again,
  }: IncidentSummary): readonly LiveRun[] => {
    const key = container?.id !== undefined ? containerKey(container.id) : process === undefined ? undefined : runs.ofPid(process.pid)
    // What was reported has its moment, and another one when it comes again; that it was last seen may be a moment of the run after it.
    if (key !== undefined) return [...new Set([hitAt(key, from), hitAt(key, again ?? (isLogKind(kind) ? from : to))])].filter((run) => run !== undefined)
    if (container !== undefined || process !== undefined || gpu?.uuid === undefined) return []
    const { uuid } = gpu
    return runs.all().filter(({ usage, startedAt, seenAt }) => startedAt <= to && Math.abs(to - seenAt) <= KEPT_MS && usage.holds(uuid))
  }

  return {
    ingest(event) {
      switch (event.type) {
        case 'scrape':
          return readings.scrape(event)
        case 'log':
          return event.stream === 'kernel' ? onKernel(event) : onLog(event)
        case 'container':
          return containers.event(event)
        case 'process':
          host.process(event)
          return readings.settle()
        case 'exec':
          return host.exec(event)
        case 'log_tail':
        case 'allocator':
        case 'allocator_oom':
        case 'operator':
        case 'hang':
          return
      }
    },
    incident(incident) {
      const { id, kind, title, started_at: startedAt, last_seen_at: lastSeenAt, part_of: partOf, facts } = incident
      const signal = typeof facts.signal === 'string' && /^SIG[A-Z0-9]+$/.test(facts.signal) ? { signal: facts.signal } : {}
      for (const run of hitBy(incident))
        if (run.end === undefined || startedAt <= run.end.t + LATE_INCIDENT_MS)
          addIncident(run, { id, kind, title, startedAt, lastSeenAt, isEffect: partOf !== undefined, isFatal: isFatal(kind), ...signal })
    },
    tick(t) {
      beganAt ??= t
      containers.tick(t)
      host.tick(t)
      if (Math.abs(t - beganAt) > RESTORE_MS) for (const run of running.values()) if (run.isRestored) runs.close(run, { t: run.seenAt })
      runs.tick(t)
    },
    changed(moved) {
      const found: StoredRun[] = []
      for (const run of runs.all()) {
        if (!run.isDirty && !(moved && run.hasMoved)) continue
        run.isDirty = false
        run.hasMoved = false
        found.push(storedRun(run))
        run.former = []
      }
      return found
    },
    moved: () => runs.all().flatMap((run) => (run.hasMoved ? [storedRun(run)] : [])),
    figures: () => ({ ...runs.figures([...running.values()].filter(isKnown)), use: [...ledger.totals().values()] }),
    ledger,
    live: runs.all,
    running: () =>
      [...running.values()].map(({ identity: { job, job_id, container, pid }, usage }) => ({
        job,
        job_id,
        gpus: usage.seats(),
        ...(container === undefined ? {} : { container }),
        ...(pid === undefined ? {} : { pid }),
      })),
    strangers: host.strangers,
    unidentified(pid) {
      host.unidentified(pid)
      readings.settle()
    },
    onStrangers: host.onStrangers,
    roots: () =>
      [...running.values()].flatMap(({ roots, identity: { slurm_job: slurmJob, unit } }) =>
        [...roots.values()].map((root) => ({ ...root, ...(slurmJob === undefined ? {} : { slurmJob }), ...(unit === undefined ? {} : { unit }) })),
      ),
    unconfirmed: () =>
      [...running.values()].flatMap((run) => {
        const { isRestored, identity } = run
        return identity.container_id !== undefined && (isRestored || containers.isMissing(run)) ? [identity.container_id] : []
      }),
    restore(stored, checkpoints = []) {
      ledger.restore(checkpoints)
      readings.restore(checkpoints)
      for (const one of stored) {
        const run = restoredRun(one)
        const other = running.get(run.key)
        if (other?.startedAt === run.startedAt) {
          // Two rows of one run: before its job was known it was stored under another one, and that row stayed.
          const [kept, stale] = run.seenAt > other.seenAt ? [run, other] : [other, run]
          kept.former = [...kept.former, { job_id: stale.identity.job_id, run: stale.run }]
          kept.isDirty = true
          running.set(run.key, kept)
          continue
        }
        if (other !== undefined) runs.close(other, { t: other.seenAt })
        running.set(run.key, run)
        for (const root of run.roots.keys()) runs.roots.set(root, run.key)
        host.restore(one.pids ?? [], run.key)
      }
    },
  }
}
