// An incident from before a restart of the agent, open again.
import { namedBy } from '../../model/facts.ts'
import type { Fault } from '../../model/fault.ts'
import type { Incident, IncidentSubject } from '../../model/incident.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import { isLogKind } from '../../model/log-kinds.ts'
import { withoutLost, type LostSoFar } from './lost-time.ts'
import { faultKey, type GroupedFault } from './grouped-faults.ts'
import type { OpenIncident } from './open-incident.ts'
import { crashKeyOf } from './subject.ts'

/** Stands for the key of a detector's incident, which is not kept: the detector finds it by whom it is about. */
const RESTORED = 'restored'

/** `elapsed` is the tracker's clock. */
export function restoredIncident(incident: Incident, elapsed: number): OpenIncident {
  const { kind, severity, title, verdict, facts, remedies, subject, evidence } = incident
  const fault: Fault<IncidentKind> = { kind, severity, title, verdict, facts, remedies, evidence: [] }
  const crashKey = subject.container === undefined ? undefined : crashKeyOf(subject.container)
  const member: GroupedFault = {
    fault,
    subject,
    key: !isLogKind(kind) ? RESTORED : faultKey(fault, subject, crashKey),
    firstT: incident.started_at,
    lastT: incident.last_seen_at,
    counts: new Map(),
    lastSighting: new Map(),
    pids: new Set(),
  }
  const others = incident.consequences.map((consequence): GroupedFault => {
    const own: Fault<IncidentKind> = { ...consequence, remedies: [], evidence: [] }
    return {
      fault: own,
      subject: {},
      key: faultKey(own, subject, crashKey),
      firstT: consequence.first_seen_at,
      lastT: consequence.last_seen_at,
      counts: new Map([['log', consequence.count]]),
      lastSighting: new Map(),
      pids: new Set(),
    }
  })
  return {
    id: incident.id,
    status: incident.status,
    grouped: [member, ...others],
    crashKeys: new Set(crashKey === undefined ? [] : [crashKey]),
    gpus: new Set(subject.gpu?.uuid === undefined ? [] : [subject.gpu.uuid]),
    startedAt: incident.started_at,
    firedAt: incident.fired_at,
    resolvedAt: undefined,
    lastSeenAt: incident.last_seen_at,
    evidenceFrom: elapsed,
    occurredAt: incident.occurred_at ?? incident.started_at,
    earlier: incident.occurrences ?? [],
    quietFrom: elapsed,
    held: false,
    reportedAt: elapsed,
    resolution: undefined,
    exitCode: facts.exit_code,
    lost: lostBefore(incident),
    logLines: evidence.log_lines,
    logs: new Set(),
    series: evidence.series,
    processes: evidence.processes,
    container: evidence.container,
    complete: true,
    changed: false,
    story: incident.story,
    partOf: incident.part_of,
    ledTo: incident.led_to ?? [],
    countBefore: incident.count,
  }
}

/** How often it had crashed is not kept: as often as it was counted, at the most. */
function lostBefore({ facts: { gpu_seconds_lost: seconds }, verdict, count }: Incident): LostSoFar | undefined {
  return seconds === undefined ? undefined : { seconds, crashes: count, text: verdict.slice(withoutLost(verdict).length).trimStart() }
}

/** A detector's incident from before the restart, about the same subject; from now on it has the detector's key. */
export function adoptRestored(
  incidents: readonly OpenIncident[],
  key: string,
  kind: IncidentKind,
  { gpu, container, process }: IncidentSubject,
  named?: string,
): OpenIncident | undefined {
  const open = incidents.find(({ held, grouped: [root] }) => {
    if (held || root?.key !== RESTORED || root.fault.kind !== kind || namedBy(root.fault.facts) !== named) return false
    const { subject } = root
    return subject.gpu?.uuid === gpu?.uuid && subject.container?.name === container?.name && subject.process?.pid === process?.pid
  })
  const root = open?.grouped[0]
  if (open !== undefined && root !== undefined) open.grouped[0] = { ...root, key }
  return open
}
