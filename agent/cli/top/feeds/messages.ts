// The border to the agent: what comes over its stream is looked at before it is believed.
import type { FrameMessage, HelloMessage, LiveMessage } from '../../../model/live.ts'
import type { IncidentMessage } from '../../../model/incident.ts'
import { isSummary } from '../../incidents/is-summary.ts'
import { SEVERITIES } from '../../../model/severity.ts'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)
const rows = (value: unknown, ...names: readonly string[]): boolean =>
  Array.isArray(value) && value.every((row) => isObject(row) && names.every((name) => typeof row[name] === 'string' || typeof row[name] === 'number'))

const isHello = (value: Readonly<Record<string, unknown>>): boolean => value['type'] === 'hello' && value['version'] === 1 && typeof value['host'] === 'string'
const isFrame = (value: Readonly<Record<string, unknown>>): boolean =>
  value['type'] === 'frame' &&
  typeof value['t'] === 'number' &&
  isObject(value['host']) &&
  rows(value['gpus'], 'uuid', 'index') &&
  rows(value['processes'], 'pid', 'process', 'uuid', 'gpu') &&
  rows(value['jobs'], 'job_id', 'job', 'kind', 'started_at') &&
  rows(value['servers'], 'name', 'server') &&
  rows(value['progress'], 'job')
const isIncident = (value: Readonly<Record<string, unknown>>): boolean => {
  const { type, incident } = value
  return (
    type === 'incident' &&
    isSummary(incident) &&
    Array.isArray(incident.remedies) &&
    SEVERITIES.includes(incident.severity) &&
    typeof incident.title === 'string'
  )
}

const isLive = (value: unknown): value is HelloMessage | FrameMessage | IncidentMessage =>
  isObject(value) && (isHello(value) || isFrame(value) || isIncident(value))

/** undefined: of a later version, or not what an agent sends. */
export function parseLive(text: string): LiveMessage | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isLive(value) ? value : undefined
  } catch {
    return undefined
  }
}
