// Which silence covers an incident, and how it is shown with its silence and acknowledgement.
import type { IncidentSubject, IncidentSummary } from '../../model/incident.ts'
import type { Acknowledgement, Silence, SilenceScope } from '../../model/maintenance.ts'

export type Silenceable = Pick<IncidentSummary, 'id' | 'kind' | 'severity' | 'status' | 'subject' | 'resolved_at'>

/** Shorter text may be the beginning of many ids; an engine's short id has 12 characters. */
const MIN_ID = 12

function gpuIs(wanted: string, { gpu }: IncidentSubject): boolean {
  if (gpu === undefined) return false
  // Without a UUID the number is the program's own, not the host's.
  return gpu.uuid === undefined ? gpu.pci_bus_id === wanted : gpu.uuid === wanted || String(gpu.index) === wanted
}
function containerIs(wanted: string, { container }: IncidentSubject): boolean {
  if (container === undefined) return false
  const { name, id } = container
  return name === wanted || (id !== undefined && wanted.length >= MIN_ID && (id.startsWith(wanted) || wanted.startsWith(id)))
}

export const covers = ({ kind, gpu, container, severity }: SilenceScope, incident: Silenceable): boolean =>
  (kind === undefined || kind === incident.kind) &&
  (severity === undefined || severity === incident.severity) &&
  (gpu === undefined || gpuIs(gpu, incident.subject)) &&
  (container === undefined || containerIs(container, incident.subject))

/** Of those that cover it the one that lasts longest. What was over before a silence began is none of its business. */
export function silenceOf(incident: Silenceable, silences: Iterable<Silence>, now: number): Silence | undefined {
  let found: Silence | undefined
  for (const silence of silences) {
    if (silence.until <= now || (found !== undefined && found.until >= silence.until)) continue
    if (incident.status === 'resolved' && (incident.resolved_at ?? 0) < silence.created_at) continue
    if (covers(silence, incident)) found = silence
  }
  return found
}

export function decorated<T extends Silenceable>(incident: T, silence: Silence | undefined, acknowledged: Acknowledgement | undefined): T {
  if (silence === undefined && acknowledged === undefined) return incident
  return {
    ...incident,
    ...(silence === undefined ? {} : { silenced: { until: silence.until, id: silence.id } }),
    ...(acknowledged === undefined ? {} : { acknowledged }),
  }
}
