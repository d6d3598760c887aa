// One row for what comes and goes: what is over joins the newest incident of its kind on the same GPU or container, so that eight of them in half an
// hour do not hide the rest. What fires keeps a row of its own. Pure.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'

export type Repeated = {
  /** The one that fires, else the newest. */
  readonly incident: IncidentSummary
  /** How many there are of it, itself included, and when the first of them began. */
  readonly times: number
  readonly since: number
  /** Of all of them. */
  readonly ids: ReadonlySet<string>
  /** It began so often within half an hour that its state now says little. */
  readonly flapping: boolean
}

const FLAPS = 3
const FLAPPING_MS = 30 * 60_000

const keyOf = ({ kind, subject: { gpu, container, process, host } }: IncidentSummary): string =>
  [kind, gpu?.uuid ?? gpu?.pci_bus_id ?? gpu?.index, container?.name, container === undefined ? process?.name : undefined, host?.name].join('|')

type Begun = { readonly incident: IncidentSummary; readonly all: readonly IncidentSummary[] }

const rowOf = ({ incident, all }: Begun): Repeated => {
  const begins = all.map(({ started_at: startedAt }) => startedAt)
  const newest = Math.max(...begins)
  return {
    incident,
    times: begins.length,
    since: Math.min(...begins),
    ids: new Set(all.map(({ id }) => id)),
    flapping: begins.filter((begin) => newest - begin < FLAPPING_MS).length >= FLAPS,
  }
}

/** In the order of the first of each. */
export function repeats(incidents: readonly IncidentSummary[]): readonly Repeated[] {
  const found = new Map<string, Begun>()
  for (const incident of incidents) {
    const key = keyOf(incident)
    const known = found.get(key)
    if (known === undefined) found.set(key, { incident, all: [incident] })
    else if (incident.status === 'firing') found.set(`${key}|${incident.id}`, { incident, all: [incident] })
    else found.set(key, { incident: known.incident, all: [...known.all, incident] })
  }
  return [...found.values()].map(rowOf)
}
