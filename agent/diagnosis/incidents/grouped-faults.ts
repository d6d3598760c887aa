// The faults of one incident: the same one again counts up, another one is listed, the root comes first.
import type { Facts } from '../../model/facts.ts'
import type { Fault } from '../../model/fault.ts'
import { SAME_KILL_MS, SAME_OOM_MS } from './rules.ts'
import type { Consequence, IncidentSubject } from '../../model/incident.ts'
import type { IncidentKind } from '../../model/kinds.ts'

/** How a fault became known; one kill can be reported by several. `exception`: the text of the log, as the probe saw it leave the program. */
export type Via = 'log' | 'kernel' | 'event' | 'counter' | 'probe' | 'exception' | 'detector'

export type GroupedFault = {
  fault: Fault<IncidentKind>
  subject: IncidentSubject
  readonly key: string
  readonly firstT: number
  lastT: number
  /** Counted by source: three reports of one kill are one. */
  readonly counts: Map<Via, number>
  readonly lastSighting: Map<Via, number>
  readonly pids: Set<number>
}

const MESSAGES = ['log', 'kernel', 'exception'] as const
/** A log line shows it, which is more certain than numbers alone; `since`: of the occurrence that began then. */
export const hasMessage = ({ counts, lastSighting }: GroupedFault, since = -Infinity): boolean =>
  MESSAGES.some((via) => counts.has(via) && (lastSighting.get(via) ?? -Infinity) >= since)

export const countOf = ({ counts }: GroupedFault): number => Math.max(1, ...counts.values())

/** Facts by which faults of one kind on the same subject differ. */
const identity = ({ kind, facts }: Fault<IncidentKind>): string => {
  if (kind === 'xid') return ` ${facts.xid ?? ''} ${facts.sxid ?? ''}`
  if (kind === 'cuda_library_missing') return ` ${facts.library ?? ''}`
  if (kind === 'disk_full' || kind === 'cache_permission') return ` ${facts.path ?? ''}`
  return ''
}

/** The same fault on the same subject has the same key. */
export function faultKey(fault: Fault<IncidentKind>, subject: IncidentSubject, crashKey: string | undefined): string {
  const gpu = subject.gpu?.uuid ?? subject.gpu?.pci_bus_id
  // An Xid is a GPU's, whichever process it names; nearly all else is a container's, or a log file's.
  const whom = fault.kind === 'xid' && gpu !== undefined ? gpu : (crashKey ?? gpu ?? (subject.process === undefined ? 'host' : `pid ${subject.process.pid}`))
  return `${fault.kind}${identity(fault)} @ ${whom}`
}

/** The fault with more facts says more: the kernel's line has figures that the engine's event lacks. */
const weight = ({ facts }: Fault<IncidentKind>): number => Object.keys(facts).length

/** `preferNext`: a log line has come for what was known only from numbers. */
export function mergeFault(old: Fault<IncidentKind>, next: Fault<IncidentKind>, preferNext: boolean): Fault<IncidentKind> {
  const richer = preferNext || weight(next) > weight(old) ? next : old
  const other = richer === next ? old : next
  return { ...richer, facts: { ...other.facts, ...richer.facts } }
}

/** An OOM that comes again replaces all facts: neighbours of the earlier one may have ended since, and figures of two failures do not add up. */
export function renewedFault(member: GroupedFault, next: Fault<IncidentKind>, t: number): Fault<IncidentKind> | undefined {
  if (next.kind !== 'cuda_oom' || (next.facts.causes ?? []).length === 0 || t - member.lastT <= SAME_OOM_MS) return undefined
  const { gpu_index: index, exit_code: code } = member.fault.facts
  return { ...next, facts: { ...(index === undefined ? {} : { gpu_index: index }), ...(code === undefined ? {} : { exit_code: code }), ...next.facts } }
}

export function mergeSubject(old: IncidentSubject, next: IncidentSubject): IncidentSubject {
  const { host, ...rest } = { ...next, ...old }
  const gpu = { ...next.gpu, ...old.gpu }
  // An index without a UUID is the program's own: beside a GPU that is known it says nothing.
  const whole = next.gpu?.uuid !== undefined && old.gpu?.uuid === undefined ? { ...gpu, ...next.gpu } : gpu
  const merged = { ...rest, ...(Object.keys(whole).length === 0 ? {} : { gpu: whole }) }
  return Object.keys(merged).length > 0 || host === undefined ? merged : { host }
}

/** Adds a sighting to a member. */
export function countSighting(member: GroupedFault, via: Via, t: number, pid: number | undefined, times: number): void {
  const before = member.counts.get(via) ?? 0
  // A detector repeats itself for as long as it holds: that is one.
  if (via === 'detector') {
    member.counts.set(via, 1)
    member.lastT = Math.max(member.lastT, t)
    return
  }
  member.counts.set(via, member.fault.kind === 'host_oom_kill' ? killsBy(member, via, t, pid, times, before) : before + times)
  member.lastSighting.set(via, t)
  member.lastT = Math.max(member.lastT, t)
}

/** The kernel prints several lines for one kill, and some twice; an engine may say `oom` twice for one (runtime facts: `oom 2 oom_kill 1`). */
function killsBy({ pids, lastSighting }: GroupedFault, via: Via, t: number, pid: number | undefined, times: number, before: number): number {
  if (via === 'kernel') {
    if (pid !== undefined && pids.size < 1_000) pids.add(pid)
    return Math.max(1, pids.size)
  }
  if (via === 'counter') return before + times
  const last = lastSighting.get(via)
  return last !== undefined && Math.abs(t - last) <= SAME_KILL_MS ? before : before + times
}

export function toConsequence({ fault, subject, firstT, lastT, ...counted }: GroupedFault): Consequence {
  const { kind, severity, title, verdict, facts } = fault
  const container = subject.container?.name
  return {
    kind,
    severity,
    title,
    verdict,
    facts,
    ...(container === undefined ? {} : { container }),
    first_seen_at: firstT,
    last_seen_at: lastT,
    count: Math.max(1, ...counted.counts.values()),
  }
}

export const withFacts = (fault: Fault<IncidentKind>, more: Facts): Fault<IncidentKind> => ({ ...fault, facts: { ...more, ...fault.facts } })
