// Where `warpwatch incidents` reads: the running agent, or its store when none runs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { localUrl } from '../../config/listen.ts'
import type { Config } from '../../config/schema.ts'
import type { Incident, IncidentFilter, IncidentSummary } from '../../model/incident.ts'
import { ACTIONS_FILE, actionsInFile } from '../../store/actions.ts'
import { INCIDENTS_FILE, openIncidentFile } from '../../store/incidents/file.ts'
import { MAINTENANCE_FILE, readLists } from '../../store/maintenance/file.ts'
import { decorated, silenceOf } from '../../store/maintenance/match.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError } from '../command.ts'
import { isSummary } from './is-summary.ts'

export type IncidentReader = {
  /** Who answers, for a person. */
  readonly from: string
  /** The address of the runbooks, up to the kind; undefined where no agent answers. */
  readonly runbooks?: string
  readonly list: (filter: IncidentFilter) => Promise<readonly IncidentSummary[]>
  /** undefined: there is none of that id. */
  readonly get: (id: string) => Promise<Incident | undefined>
  readonly close: () => void
}

const ANSWER_WITHIN_MS = 5_000

const isWhole = (value: unknown): value is Incident =>
  isSummary(value) && 'series' in value.evidence && Array.isArray(value.evidence.series) && 'processes' in value.evidence

/** undefined: nobody listens there. */
async function ask(url: string, token: string): Promise<Response | undefined> {
  try {
    return await fetch(url, { headers: token === '' ? {} : { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
  } catch (error) {
    const { cause } = error instanceof Error ? error : { cause: undefined }
    if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED') return undefined
    throw new UsageError(`incidents: ${url}: no agent answers: ${messageOf(cause ?? error)}`, { cause: error })
  }
}

async function bodyOf(url: string, response: Response): Promise<unknown> {
  if (response.ok) return response.json()
  const hint = response.status === 401 ? " (http.token, or WARPWATCH_HTTP__TOKEN, must be the agent's)" : ''
  throw new UsageError(`incidents: ${url} answered with status ${response.status}${hint}`)
}

function overHttp(base: string, token: string): IncidentReader {
  const path = (rest: string): string => `${base}/api/v1/incidents${rest}`
  const answered = async (url: string): Promise<Response> => {
    const response = await ask(url, token)
    if (response === undefined) throw new UsageError(`incidents: ${base}: the agent has gone`)
    return response
  }
  return {
    from: `the agent at ${base}`,
    runbooks: `${base}/runbooks/`,
    async list({ limit, status, kind, since }) {
      const query = new URLSearchParams({ limit: String(limit) })
      if (status !== undefined) query.set('status', status)
      if (kind !== undefined) query.set('kind', kind)
      if (since !== undefined) query.set('since', String(since))
      const url = path(`?${query.toString()}`)
      const body = await bodyOf(url, await answered(url))
      if (!Array.isArray(body) || !body.every(isSummary))
        throw new UsageError(`incidents: ${url} did not answer with a list of incidents; is another program listening there?`)
      return body
    },
    async get(id) {
      const url = path(`/${encodeURIComponent(id)}`)
      const response = await answered(url)
      if (response.status === 404) return undefined
      const body = await bodyOf(url, response)
      if (!isWhole(body)) throw new UsageError(`incidents: ${url} did not answer with an incident; is another program listening there?`)
      return body
    },
    close: () => {},
  }
}

/** What people said of the incidents, as the agent left it; without it they are told bare. */
function decorator(directory: string): <T extends IncidentSummary>(incident: T) => T {
  if (!existsSync(join(directory, MAINTENANCE_FILE))) return (incident) => incident
  try {
    const { silences, acknowledged } = readLists(directory)
    const acks = new Map(acknowledged)
    const now = Date.now()
    return (incident) => decorated(incident, silenceOf(incident, silences, now), acks.get(incident.id))
  } catch {
    return (incident) => incident
  }
}

/** What was done about it, where actions are set. */
function withActions(directory: string, incident: Incident): Incident {
  if (!existsSync(join(directory, ACTIONS_FILE))) return incident
  try {
    const actions = actionsInFile(directory, incident.id)
    return actions.length === 0 ? incident : { ...incident, actions }
  } catch {
    return incident
  }
}

function overFile(directory: string): IncidentReader {
  const path = join(directory, INCIDENTS_FILE)
  if (!existsSync(path)) return { from: `${path}, which does not exist; no agent runs`, list: async () => [], get: async () => undefined, close: () => {} }
  try {
    const file = openIncidentFile(directory)
    const tell = decorator(directory)
    return {
      from: `${path} (no agent runs)`,
      list: async (filter) => file.list(filter).map(tell),
      async get(id) {
        const incident = file.get(id)
        return incident === undefined ? undefined : withActions(directory, tell(incident))
      },
      close: file.close,
    }
  } catch (error) {
    throw new UsageError(`incidents: ${path}: the incidents cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

export async function openIncidents({ http, data_dir: directory }: Config): Promise<IncidentReader> {
  const base = localUrl(http.listen)
  const alive = http.listen.endsWith(':0') ? undefined : await ask(`${base}/healthz`, http.token)
  return alive === undefined ? overFile(directory) : overHttp(base, http.token)
}
