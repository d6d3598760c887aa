// The incidents of the API: a bounded list, one whole, and its report in Markdown.
import type { Context, Hono } from 'hono'
import { reply, type Reply } from '../compress.ts'
import { INCIDENT_STATUSES, type Incident, type IncidentFilter, type IncidentsView, type IncidentStatus } from '../../model/incident.ts'
import { INCIDENT_KINDS, isIncidentKind } from '../../model/kinds.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Refusal } from '../errors.ts'

export type IncidentApiOptions = {
  readonly incidents: IncidentsView
  readonly report: (incident: Incident) => string
}

export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1_000
const NAMES = ['status', 'kind', 'since', 'limit'] as const
const isName = (name: string): name is (typeof NAMES)[number] => (NAMES as readonly string[]).includes(name)
const isStatus = (text: string): text is IncidentStatus => (INCIDENT_STATUSES as readonly string[]).includes(text)
const quoted = (text: string): string => JSON.stringify(text.slice(0, 100))

/** Without zod, which would cost a dashboard's first look 12 MiB. */
export function parseIncidentQuery(search: URLSearchParams): { readonly filter: IncidentFilter } | { readonly problem: string } {
  const given: Partial<Record<(typeof NAMES)[number], string>> = {}
  for (const [name, value] of search) {
    if (!isName(name)) return { problem: `${name.slice(0, 50)}: unknown parameter; there are ${NAMES.join(', ')}` }
    if (given[name] !== undefined) return { problem: `${name}: is given ${search.getAll(name).length} times: give it once` }
    given[name] = value
  }
  const { status, kind, since, limit } = given
  if (status !== undefined && !isStatus(status)) return { problem: `status: must be one of ${INCIDENT_STATUSES.join(', ')}, not ${quoted(status)}` }
  if (kind !== undefined && !isIncidentKind(kind)) {
    const guess = nearest(kind.slice(0, 60), INCIDENT_KINDS)
    return { problem: `kind: must be a kind of incident${guess === undefined ? '' : ` such as ${guess}`}, not ${quoted(kind)}` }
  }
  if (since !== undefined && !/^\d{1,15}$/.test(since)) return { problem: `since: must be a time in Unix milliseconds, not ${quoted(since)}` }
  if (limit !== undefined && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT))
    return { problem: `limit: must be a whole number from 1 to ${MAX_LIMIT}, not ${quoted(limit)}` }
  return {
    filter: {
      ...(status === undefined ? {} : { status }),
      ...(kind === undefined ? {} : { kind }),
      ...(since === undefined ? {} : { since: Number(since) }),
      limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
    },
  }
}

export type Answers = { readonly answer: (c: Context, value: unknown) => Reply; readonly refuse: (c: Context, refusal: Refusal) => Response }

export function addIncidents(app: Hono, { incidents, report }: IncidentApiOptions, { answer, refuse }: Answers): void {
  const withIncident = (c: Context, respond: (incident: Incident) => Reply): Reply => {
    const id = c.req.param('id') ?? ''
    const incident = /^[0-9a-f]{16}$/.test(id) ? incidents.get(id) : undefined
    return incident === undefined ? refuse(c, { code: 'not_found', message: `no incident ${quoted(id)}; /api/v1/incidents lists them` }) : respond(incident)
  }
  app.get('/api/v1/incidents', (c) => {
    const parsed = parseIncidentQuery(new URL(c.req.url).searchParams)
    return 'problem' in parsed ? refuse(c, { code: 'bad_request', message: parsed.problem }) : answer(c, incidents.list(parsed.filter))
  })
  app.get('/api/v1/incidents/:id', (c) => withIncident(c, (incident) => answer(c, incident)))
  app.get('/api/v1/incidents/:id/report', (c) =>
    withIncident(c, (incident) =>
      reply(c, report(incident), { 'Content-Type': 'text/markdown; charset=utf-8', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }),
    ),
  )
}
