// Sightings of faults become incidents: the same fault counts up, the faults of one crash are one incident with its root first, quiet resolves it.
// Pure: time comes with the sightings and ticks.
import { namedBy } from '../../model/facts.ts'
import type { Fault } from '../../model/fault.ts'
import type { Incident, IncidentSubject } from '../../model/incident.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import { countSighting, faultKey, hasMessage, mergeFault, mergeSubject, renewedFault, withFacts, type GroupedFault, type Via } from './grouped-faults.ts'
import { incidentId, rootOf, type OpenIncident } from './open-incident.ts'
import { afresh, beginOccurrence, isNewOccurrence, withoutProcess } from './occurrences.ts'
import { adoptRestored, restoredIncident } from './restored.ts'
import {
  canJoin,
  CRASH_WINDOW_MS,
  echoesGpu,
  findingJoins,
  hitsWholeGpu,
  isHeldLogKind,
  joinWindowMs,
  needsReading,
  quietMs,
  RESTART_MS,
  rootRank,
  SAME_KILL_MS,
} from './rules.ts'

export type Sighting = {
  readonly fault: Fault<IncidentKind>
  readonly via: Via
  readonly t: number
  readonly subject: IncidentSubject
  readonly crashKey: string | undefined
  readonly gpus: readonly string[]
  /** True for what alone is no incident yet: it fires when a second sign comes. */
  readonly pending?: boolean
  readonly times?: number
  /** Of a detector's finding: one incident for as long as the detector holds to it; it joins no crash. */
  readonly key?: string
}
export type TrackerOptions = {
  /** The lower the nearer to the cause. */
  readonly rank?: (fault: Fault<IncidentKind>) => number
  /** When the GPU was last read: an incident of a GPU resolves only while that GPU answers. */
  readonly gpuReadAt?: (uuid: string) => number | undefined
  readonly maxOpen?: number
}
export type Tracker = {
  readonly see: (sighting: Sighting) => OpenIncident
  /** A detector says that what it found under this key is over; the incident that this resolves. */
  readonly clear: (
    finding: { readonly key: string; readonly kind: IncidentKind; readonly subject: IncidentSubject; readonly named?: string; readonly why?: string },
    t: number,
  ) => OpenIncident | undefined
  /** Someone says that it is repaired; undefined where it does not fire. */
  readonly settle: (id: string, t: number, why: string) => OpenIncident | undefined
  readonly ended: (crashKey: string, t: number, exitCode: number | undefined) => void
  /** Moves time on; returns what resolved or was given up. */
  readonly tick: (t: number) => readonly OpenIncident[]
  readonly open: () => readonly OpenIncident[]
  /** Milliseconds of ticks so far, without the pauses and jumps between them. */
  readonly elapsed: () => number
  /** What fired before the agent was started again. */
  readonly restore: (incident: Incident) => OpenIncident
}

/** More time between two ticks than this is silence of the sources or a jump of the clock, and neither is quiet. */
const MAX_TICK_MS = 30_000
const MAX_OPEN = 500
/** What holds on unchanged is told again after so long, with its newest figures. */
const TELL_HELD_EVERY_MS = 60_000
const MAX_GROUPED = 50
const HANDLED_RANK = 30
/** A handled OOM that nobody died of is forgotten after so long. */
const PENDING_MS = CRASH_WINDOW_MS
const GPU_ANSWERS_WITHIN_MS = 15_000

export function createTracker({ rank = rootRank, gpuReadAt = () => undefined, maxOpen = MAX_OPEN }: TrackerOptions = {}): Tracker {
  const incidents: OpenIncident[] = []
  const exits = new Map<string, { readonly t: number; readonly code: number | undefined }>()
  let elapsed = 0
  let lastTick: number | undefined

  const near = (open: OpenIncident, t: number, windowMs: number): boolean => t >= open.startedAt - windowMs && t <= open.lastSeenAt + windowMs

  const known = (sighting: Sighting, key: string): OpenIncident | undefined =>
    incidents.findLast((open) => open.grouped.some((member) => member.key === key) && sighting.t >= open.startedAt - CRASH_WINDOW_MS)

  /** An open incident that this fault is a part of. */
  const ofSameCrash = ({ fault, t, crashKey, gpus, subject, via }: Sighting): OpenIncident | undefined => {
    const windowMs = joinWindowMs(fault)
    return incidents.findLast((open) => {
      const kinds = open.grouped.map((member) => member.fault.kind)
      if (!canJoin(fault.kind, kinds) || !near(open, t, windowMs)) return false
      if (crashKey !== undefined && open.crashKeys.has(crashKey)) return true
      const apart = crashKey !== undefined && open.crashKeys.size > 0
      // A kill that one deduper cannot place is the one that another told of at the same time.
      if (fault.kind === 'host_oom_kill' && kinds.includes('host_oom_kill') && !apart) return near(open, t, SAME_KILL_MS) || samePid(open, subject)
      if (!apart && via !== 'event' && samePid(open, subject)) return true
      // The versions are the host's: what a detector holds and what a container's log says are one.
      if (fault.kind === 'nvml_driver_mismatch' && kinds.includes(fault.kind) && (via === 'detector' || open.held)) return true
      // One hardware fault is felt by every program on its GPU, whichever container it runs in.
      const shared = gpus.some((uuid) => open.gpus.has(uuid))
      const hardware = hitsWholeGpu(fault.kind) || kinds.some(hitsWholeGpu)
      return shared && hardware && echoesGpu(fault.kind) && kinds.some(echoesGpu)
    })
  }
  const samePid = (open: OpenIncident, { process }: IncidentSubject): boolean =>
    process !== undefined && open.grouped.some((member) => member.subject.process?.pid === process.pid || member.pids.has(process.pid))

  const create = (sighting: Sighting): OpenIncident => {
    const { fault, subject, t } = sighting
    let id = incidentId(fault.kind, subject, t)
    // Two of a kind in one millisecond on what looks like one subject: they still need two names.
    for (let n = 1; incidents.some((open) => open.id === id); n++) id = incidentId(fault.kind, subject, t + n)
    const made: OpenIncident = {
      id,
      status: 'pending',
      grouped: [],
      crashKeys: new Set(),
      gpus: new Set(),
      startedAt: t,
      firedAt: undefined,
      resolvedAt: undefined,
      lastSeenAt: t,
      evidenceFrom: elapsed,
      occurredAt: t,
      earlier: [],
      quietFrom: elapsed,
      held: false,
      reportedAt: elapsed,
      resolution: undefined,
      exitCode: undefined,
      lost: undefined,
      logLines: [],
      logs: new Set(),
      series: [],
      processes: [],
      container: undefined,
      complete: false,
      changed: true,
      story: undefined,
      partOf: undefined,
      ledTo: [],
      countBefore: 0,
    }
    incidents.push(made)
    return made
  }

  /** An OOM that only the probe saw and after which the program went on with less is a part of that story, not its root. */
  const rankIn = ({ grouped }: OpenIncident, member: GroupedFault): number => {
    const handled = member.fault.kind === 'cuda_oom' && !hasMessage(member) && grouped.some(({ fault }) => fault.kind === 'batch_halving')
    return handled ? HANDLED_RANK : rank(member.fault)
  }

  const add = (open: OpenIncident, { fault, via, t, subject, crashKey, gpus, times = 1 }: Sighting, key: string): void => {
    const same = open.grouped.find((member) => member.key === key || (member.fault.kind === fault.kind && fault.kind === 'host_oom_kill'))
    if (same === undefined) {
      // What comes on top of so many is not listed, it is still the same crash.
      if (open.grouped.length >= MAX_GROUPED) return
      const member: GroupedFault = { fault, subject, key, firstT: t, lastT: t, counts: new Map(), lastSighting: new Map(), pids: new Set() }
      countSighting(member, via, t, fault.facts.pid, times)
      open.grouped.push(member)
    } else {
      const first = (via === 'log' || via === 'kernel' || via === 'exception') && same.counts.size > 0 && !hasMessage(same, open.occurredAt)
      const renewed = renewedFault(same, fault, t)
      const stale = via !== 'detector' && same.lastT < open.occurredAt
      countSighting(same, via, t, fault.facts.pid, times)
      // A detector has the newest figures, but where a log told the same its words are better.
      if (via === 'detector') same.fault = hasMessage(same) ? withFacts(same.fault, fault.facts) : fault
      else if (stale) same.fault = afresh(same.fault, fault)
      else same.fault = renewed ?? mergeFault(same.fault, fault, first)
      same.subject = stale ? mergeSubject(subject, withoutProcess(same.subject)) : mergeSubject(same.subject, subject)
    }
    open.grouped.sort((a, b) => rankIn(open, a) - rankIn(open, b) || a.firstT - b.firstT)
    if (crashKey !== undefined) open.crashKeys.add(crashKey)
    for (const uuid of gpus) open.gpus.add(uuid)
  }

  /** The end of its container, where it was told before the fault. */
  const applyExit = (open: OpenIncident, crashKey: string | undefined, t: number): void => {
    const exit = crashKey === undefined ? undefined : exits.get(crashKey)
    if (exit === undefined || Math.abs(exit.t - t) > CRASH_WINDOW_MS) return
    // That of the run before.
    if (open.occurredAt !== open.startedAt && open.occurredAt - exit.t >= RESTART_MS) return
    open.exitCode ??= exit.code
    if (open.status === 'pending') fire(open, t)
  }
  const fire = (open: OpenIncident, t: number): void => {
    open.status = 'firing'
    open.firedAt = t
    open.changed = true
  }
  const remove = (open: OpenIncident): void => {
    const at = incidents.indexOf(open)
    if (at >= 0) incidents.splice(at, 1)
  }

  const close = (open: OpenIncident, t: number): void => {
    open.status = 'resolved'
    open.resolvedAt = t
    open.changed = true
    remove(open)
  }
  const mayResolve = (open: OpenIncident, t: number): boolean => {
    const { fault, subject } = rootOf(open)
    if (open.held) return false
    if (elapsed - open.quietFrom < quietMs(fault.kind)) return false
    if (!needsReading(fault.kind)) return true
    // A GPU that nobody can read has not become well.
    const uuid = subject.gpu?.uuid
    const readAt = uuid === undefined ? t : gpuReadAt(uuid)
    return readAt !== undefined && Math.abs(t - readAt) <= GPU_ANSWERS_WITHIN_MS
  }

  return {
    see(sighting) {
      const { fault, t, subject, crashKey } = sighting
      const key = sighting.key ?? faultKey(fault, subject, crashKey)
      const before = sighting.key === undefined ? undefined : (known(sighting, key) ?? adoptRestored(incidents, key, fault.kind, subject, namedBy(fault.facts)))
      const joins = sighting.key === undefined || findingJoins(fault.kind)
      const found = before ?? (joins ? (known(sighting, key) ?? ofSameCrash(sighting)) : undefined)
      const open = found ?? create(sighting)
      const endedAt = crashKey === undefined ? undefined : exits.get(crashKey)?.t
      if (found !== undefined && isNewOccurrence(found, sighting, key, endedAt)) beginOccurrence(found, t, elapsed)
      const severity = open.grouped[0]?.fault.severity
      const grouped = open.grouped.length
      add(open, sighting, key)
      open.changed ||= open.grouped.length !== grouped
      open.held = sighting.key !== undefined
      open.lastSeenAt = Math.max(open.lastSeenAt, t)
      open.quietFrom = elapsed
      open.changed ||= !open.held || severity !== fault.severity || elapsed - open.reportedAt >= TELL_HELD_EVERY_MS
      if (open.status === 'pending' && (sighting.pending !== true || open.grouped.length > 1)) fire(open, t)
      applyExit(open, crashKey, t)
      return open
    },
    clear({ key, kind, subject, named, why }, t) {
      const open =
        // An Xid of before a restart is known by its own key, and held by nobody until its detector speaks.
        incidents.find((candidate) => (candidate.held || isHeldLogKind(kind)) && candidate.grouped.some((member) => member.key === key)) ??
        adoptRestored(incidents, key, kind, subject, named)
      if (open === undefined) return undefined
      open.resolution = why
      close(open, t)
      return open
    },
    settle(id, t, why) {
      const open = incidents.find((candidate) => candidate.id === id && candidate.status === 'firing')
      if (open === undefined) return undefined
      open.resolution = why
      close(open, t)
      return open
    },
    ended(crashKey, t, code) {
      exits.delete(crashKey)
      exits.set(crashKey, { t, code })
      const oldest = exits.size > 1_000 ? exits.keys().next().value : undefined
      if (oldest !== undefined) exits.delete(oldest)
      const open = incidents.findLast((candidate) => candidate.crashKeys.has(crashKey) && near(candidate, t, CRASH_WINDOW_MS))
      if (open === undefined) return
      if (open.status === 'pending') fire(open, t)
      if (code !== undefined && open.exitCode === undefined) {
        open.exitCode = code
        const root = rootOf(open)
        root.fault = withFacts(root.fault, { exit_code: code })
        open.changed = true
      }
    },
    tick(t) {
      if (lastTick !== undefined) elapsed += Math.min(Math.max(0, t - lastTick), MAX_TICK_MS)
      lastTick = t
      for (const open of incidents.filter(({ status, quietFrom }) => status === 'pending' && elapsed - quietFrom >= PENDING_MS)) remove(open)
      const closed = incidents.filter((open) => open.status === 'firing' && mayResolve(open, t))
      // Bounded memory before all: what was heard of last stays.
      const over = incidents.length - closed.length - maxOpen
      if (over > 0)
        closed.push(
          ...incidents
            .filter((open) => !closed.includes(open))
            .sort((a, b) => a.lastSeenAt - b.lastSeenAt)
            .slice(0, over),
        )
      for (const open of closed) close(open, t)
      return closed
    },
    open: () => incidents,
    elapsed: () => elapsed,
    restore(incident) {
      const open = restoredIncident(incident, elapsed)
      incidents.push(open)
      return open
    },
  }
}
