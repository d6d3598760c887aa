// One row for what comes and goes: what is over joins the newest incident of its kind on the same GPU or container, so that eight of them in half an
// hour do not hide the rest. What fires keeps a row of its own. Pure.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'

export type Repeated = {
  /** The one that fires, else the newest. */
  readonly incident: IncidentSummary
  /** How many there are of it, itself included, and when the first of them began. */
  readonly times: number
  readonly since: number
}

const keyOf = ({ kind, subject: { gpu, container, process, host } }: IncidentSummary): string =>
  [kind, gpu?.uuid ?? gpu?.pci_bus_id ?? gpu?.index, container?.name, container === undefined ? process?.name : undefined, host?.name].join('|')

/** In the order of the first of each. */
export function repeats(incidents: readonly IncidentSummary[]): readonly Repeated[] {
  const found = new Map<string, Repeated>()
  for (const incident of incidents) {
    const key = keyOf(incident)
    const known = found.get(key)
    if (known === undefined) found.set(key, { incident, times: 1, since: incident.started_at })
    else if (incident.status === 'firing') found.set(`${key}|${incident.id}`, { incident, times: 1, since: incident.started_at })
    else found.set(key, { incident: known.incident, times: known.times + 1, since: Math.min(known.since, incident.started_at) })
  }
  return [...found.values()]
}
