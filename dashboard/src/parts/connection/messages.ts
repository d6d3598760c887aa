// The border to the agent: what comes over the wire is looked at before it is believed.
import type { Incident, IncidentMessage, IncidentSummary } from '../../../../agent/model/incident.ts'
import type { FrameMessage, HelloMessage, LiveMessage, SeriesRow } from '../../../../agent/model/live.ts'
import type { Silence } from '../../../../agent/model/maintenance.ts'
import { isObject } from './api.ts'

const isHello = (value: unknown): value is HelloMessage =>
  isObject(value) && value['type'] === 'hello' && value['version'] === 1 && Array.isArray(value['gpus'])
const isFrame = (value: unknown): value is FrameMessage =>
  isObject(value) &&
  value['type'] === 'frame' &&
  typeof value['t'] === 'number' &&
  isObject(value['host']) &&
  ['gpus', 'containers', 'processes'].every((key) => Array.isArray(value[key]))

const isIncident = (value: unknown): value is IncidentSummary =>
  isObject(value) &&
  ['id', 'kind', 'severity', 'status', 'title', 'verdict'].every((key) => typeof value[key] === 'string') &&
  typeof value['last_seen_at'] === 'number' &&
  isObject(value['subject']) &&
  Array.isArray(value['remedies']) &&
  Array.isArray(value['consequences'])
const isIncidentMessage = (value: unknown): value is IncidentMessage => isObject(value) && value['type'] === 'incident' && isIncident(value['incident'])

const isWhole = (value: unknown): value is Incident =>
  isIncident(value) && isObject(value.evidence) && ['log_lines', 'series', 'processes'].every((key) => Array.isArray(Object(value.evidence)[key]))

/** The incidents of an API answer. */
export function parseIncidents(value: unknown): readonly IncidentSummary[] {
  if (!Array.isArray(value) || !value.every(isIncident)) throw new Error(`incidents must be a list of incidents, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}

/** One incident with all its evidence. */
export function parseIncident(value: unknown): Incident {
  if (!isWhole(value)) throw new Error(`incident must be one with its evidence, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}

const isSilence = (value: unknown): value is Silence =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['reason'] === 'string' && typeof value['until'] === 'number'

/** The silences of an API answer. */
export function parseSilences(value: unknown): readonly Silence[] {
  if (!Array.isArray(value) || !value.every(isSilence)) throw new Error(`silences must be a list of silences, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}

/** A hello, a frame or an incident; undefined for messages of later versions. Throws when the text is no JSON object. */
export function parseLiveMessage(text: string): LiveMessage | undefined {
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new Error(`live stream: a message must be a JSON object, not ${text.slice(0, 80)}`)
  return isHello(value) || isFrame(value) || isIncidentMessage(value) ? value : undefined
}

const isSeries = (value: unknown): value is SeriesRow =>
  isObject(value) && isObject(value['labels']) && typeof value['step_ms'] === 'number' && Array.isArray(value['t']) && Array.isArray(value['mean'])

/** The rows of a history answer, whether they come bare or under `series`. */
export function parseSeries(value: unknown): readonly SeriesRow[] {
  const rows: unknown = isObject(value) ? value['series'] : value
  if (!Array.isArray(rows) || !rows.every(isSeries)) throw new Error(`history must be a list of series, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return rows
}
