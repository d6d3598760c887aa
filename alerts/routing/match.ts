// Whether a route fits an incident, and what an incident's labels are.
import { INCIDENT_LABELS, isIncidentRoute, isRunRoute, isWasteRoute, RUN_LABELS, type IncidentLabel, type Route } from '../../agent/model/alert-settings.ts'
import type { IncidentSummary } from '../../agent/model/incident.ts'
import type { Run } from '../../agent/model/job.ts'
import type { WastePeriod, WasteRow } from '../../agent/model/ledger.ts'

/** Each gives the names by which a label may be asked for, best first; none where the incident does not know it. */
const VALUES: Readonly<Record<IncidentLabel, (incident: IncidentSummary) => readonly (string | undefined)[]>> = {
  kind: ({ kind }) => [kind],
  severity: ({ severity }) => [severity],
  gpu: ({ subject: { gpu } }) => {
    // Without a UUID the number is the program's own, not the host's: as with silences.
    if (gpu === undefined) return []
    return gpu.uuid === undefined ? [gpu.pci_bus_id] : [gpu.uuid, gpu.index === undefined ? undefined : String(gpu.index)]
  },
  uuid: ({ subject }) => [subject.gpu?.uuid],
  gpu_name: ({ subject }) => [subject.gpu?.name],
  container: ({ subject }) => [subject.container?.name],
  container_id: ({ subject }) => [subject.container?.id],
  image: ({ subject }) => [subject.container?.image],
  namespace: ({ subject }) => [subject.container?.namespace],
  pod: ({ subject }) => [subject.container?.pod],
  process: ({ subject }) => [subject.process?.name],
  target: ({ facts }) => [facts.target],
  name: ({ facts }) => [facts.name],
}

/** Of several names for one thing the best; undefined where it is not known. */
export const labelOf = (incident: IncidentSummary, label: IncidentLabel): string | undefined => VALUES[label](incident)[0]

/** `*` means any text, also for none. No regular expression: names come from outside, and no pattern may be slow. */
export function fitsPattern(pattern: string, text: string): boolean {
  const [start = '', ...rest] = pattern.split('*')
  const end = rest.pop()
  if (end === undefined) return text === start
  if (text.length < start.length + end.length || !text.startsWith(start) || !text.endsWith(end)) return false
  let from = start.length
  for (const part of rest) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return from <= text.length - end.length
}

export const fits = ({ match }: Pick<Route, 'match'>, incident: IncidentSummary): boolean =>
  isIncidentRoute({ match }) &&
  INCIDENT_LABELS.every((label) => {
    const patterns = match[label]
    return patterns === undefined || VALUES[label](incident).some((value) => value !== undefined && patterns.some((pattern) => fitsPattern(pattern, value)))
  })

export const fitsRun = ({ match }: Route, run: Run): boolean =>
  isRunRoute({ match }) &&
  RUN_LABELS.every((label) => {
    const [patterns, value] = [match[label], run[label]]
    return patterns === undefined || (value !== undefined && patterns.some((pattern) => fitsPattern(pattern, value)))
  })

export const fitsPeriod = ({ match }: Route, period: WastePeriod): boolean =>
  isWasteRoute({ match }) && match.waste?.some((pattern) => fitsPattern(pattern, period)) === true
/** Without a pattern for users everybody's use is meant, also what nobody is known to have started. */
export const fitsUser = ({ match: { user: patterns } }: Route, { user }: Pick<WasteRow, 'user'>): boolean =>
  patterns === undefined || (user !== undefined && patterns.some((pattern) => fitsPattern(pattern, user)))
