// What an operator does about an incident: silences it, acknowledges it, marks it as resolved.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import type { Silence } from '../../../../agent/model/maintenance.ts'
import { ApiError, send, storedToken } from '../connection/api.ts'
import { parseIncidents } from '../connection/messages.ts'
import { incidents, takeIncidents } from './known.ts'
import { loadSilences, refused } from './silences.ts'

const HOUR_MS = 3_600_000

async function attempt(run: (token: string | undefined) => Promise<void>): Promise<void> {
  try {
    refused.value = undefined
    await run(storedToken())
  } catch (error) {
    refused.value = error instanceof ApiError ? error.failure.message : 'the agent does not answer'
  }
}

/** What a silence of this incident covers: its kind, on its GPU, of its container, as far as it has them. */
export function scopeOf({ kind, subject: { gpu, container } }: Pick<IncidentSummary, 'kind' | 'subject'>): Pick<Silence, 'kind' | 'gpu' | 'container'> {
  return { kind, ...(gpu?.uuid === undefined ? {} : { gpu: gpu.uuid }), ...(container === undefined ? {} : { container: container.name }) }
}

export const silence = async (incident: IncidentSummary, forMs: number, reason?: string): Promise<void> =>
  attempt(async (token) => {
    const why = reason === undefined || reason.trim() === '' ? `${incident.title}; from the dashboard` : reason.trim()
    await send('POST', 'api/v1/silences', token, { ...scopeOf(incident), for_ms: forMs, reason: why.slice(0, 500) })
    await loadSilences(token)
  })
export const silenceForAnHour = (incident: IncidentSummary): Promise<void> => silence(incident, HOUR_MS)
export const endSilence = async (id: string): Promise<void> =>
  attempt(async (token) => {
    await send('DELETE', `api/v1/silences/${encodeURIComponent(id)}`, token)
    await loadSilences(token)
  })

/** Acknowledges or resolves an incident; the agent answers with the incident as it is then. */
const say = async ({ id }: IncidentSummary, what: 'ack' | 'resolve', note?: string): Promise<void> =>
  attempt(async (token) => {
    const word = note === undefined || note.trim() === '' ? {} : { note: note.trim().slice(0, 500) }
    incidents.value = takeIncidents(incidents.value, parseIncidents([await send('POST', `api/v1/incidents/${id}/${what}`, token, word)]))
  })
export const acknowledge = (incident: IncidentSummary, note?: string): Promise<void> => say(incident, 'ack', note)
/** Marks it as resolved: it does not fire again unless the condition changes. */
export const setHealthy = (incident: IncidentSummary, note?: string): Promise<void> => say(incident, 'resolve', note)
