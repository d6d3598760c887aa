// Occurrences of one incident: when a fault comes again it has its own process, figures, log lines and readings, and those before are kept apart.
import { redactDeep } from '../../lib/redact.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { Fault } from '../../model/fault.ts'
import type { IncidentSeries, IncidentSubject, Occurrence } from '../../model/incident.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import { hasMessage, type GroupedFault } from './grouped-faults.ts'
import { rootOf, saidOf, subjectOf, type OpenIncident } from './open-incident.ts'
import { CRASH_WINDOW_MS, RESTART_MS } from './rules.ts'

/** Of an endless loop the newest are kept. */
const MAX_EARLIER = 5
const LINES_KEPT = 12
const SERIES_KEPT = 4

type Seen = { readonly t: number; readonly via: string; readonly key?: string }

/** A container's counter is read again only when it has started again: then it counts what its log or the kernel's told before. */
const isLateCount = (member: GroupedFault, since: number): boolean =>
  hasMessage(member, since) && (member.counts.get('counter') ?? 0) < Math.max(member.counts.get('kernel') ?? 0, member.counts.get('log') ?? 0)

/**
 * The same fault after more time than the messages of one crash take, or in the next run of its container, whose last one ended at `endedAt`. What a
 * detector holds goes on all the time.
 */
export function isNewOccurrence(open: OpenIncident, { t, via, key: ofDetector }: Seen, key: string, endedAt: number | undefined): boolean {
  if (via === 'detector' || ofDetector !== undefined || open.status === 'pending') return false
  const member = open.grouped.find((one) => one.key === key)
  if (member === undefined || (via === 'counter' && isLateCount(member, open.occurredAt))) return false
  // A detector that holds the incident makes it seen each second: only what was reported counts, of any fault of it.
  const reported = open.grouped.flatMap(({ lastSighting }) => [...lastSighting.values()])
  const lastT = reported.length === 0 ? open.lastSeenAt : Math.max(...reported)
  const ofNextRun = endedAt !== undefined && endedAt >= open.occurredAt && t - endedAt >= RESTART_MS
  return ofNextRun || t - lastT > CRASH_WINDOW_MS
}

/** What an operator compares over several failures: the memory of the GPU and of the process that failed. */
function memoryOf(open: OpenIncident, { facts }: Fault<IncidentKind>): readonly IncidentSeries[] {
  const { gpu, process } = subjectOf(open)
  const pid = facts.pid ?? process?.pid
  return open.series
    .filter(({ metric, labels }) => {
      if (gpu?.uuid === undefined || labels['uuid'] !== gpu.uuid) return false
      return metric === gpuMemoryUsedBytes.name || (metric === processGpuMemoryBytes.name && labels['pid'] === String(pid))
    })
    .slice(0, SERIES_KEPT)
}

function kept(open: OpenIncident): Occurrence {
  const { fault, subject }: GroupedFault = rootOf(open)
  const pid = fault.facts.pid ?? subject.process?.pid
  const marked = open.logLines.findIndex(({ matched }) => matched === true)
  const from = Math.max(0, marked - LINES_KEPT / 2)
  return {
    at: open.occurredAt,
    ...(pid === undefined ? {} : { pid }),
    ...saidOf(open),
    facts: redactDeep({ ...fault.facts, ...(open.exitCode === undefined ? {} : { exit_code: open.exitCode }) }),
    log_lines: open.logLines.slice(from, from + LINES_KEPT),
    series: memoryOf(open, fault),
  }
}

/** `elapsed` is the tracker's clock. */
export function beginOccurrence(open: OpenIncident, t: number, elapsed: number): void {
  open.earlier = [kept(open), ...open.earlier].slice(0, MAX_EARLIER)
  open.occurredAt = t
  open.evidenceFrom = elapsed
  open.logLines = []
  open.logs.clear()
  open.series = []
  open.processes = []
  open.exitCode = undefined
  open.complete = false
}

/** The fault as it was seen now; of the earlier one only what it is about stays. */
export function afresh({ facts: { gpu_index: index, pci_bus_id: bus } }: Fault<IncidentKind>, next: Fault<IncidentKind>): Fault<IncidentKind> {
  return { ...next, facts: { ...(index === undefined ? {} : { gpu_index: index }), ...(bus === undefined ? {} : { pci_bus_id: bus }), ...next.facts } }
}

/** Of another run it is another process. */
export function withoutProcess({ process: _process, ...rest }: IncidentSubject): IncidentSubject {
  return rest
}
