// What people may change over HTTP: silences, acknowledgements, and that an incident is repaired. Who may is decided in guards.ts.
import type { Context, Hono } from 'hono'
import type { Reply } from '../compress.ts'
import type { Incident, IncidentsView } from '../../model/incident.ts'
import type { NewSilence, Silence, Word } from '../../model/maintenance.ts'
import type { Refusal } from '../errors.ts'

export type MaintenanceApi = {
  readonly silences: () => readonly Silence[]
  /** undefined: there are too many. */
  readonly silence: (wanted: NewSilence) => Silence | undefined
  /** False: there is none of that id. */
  readonly unsilence: (id: string) => boolean
  readonly acknowledge: (incident: string, said: Word) => void
  /** False: it does not fire. */
  readonly resolve: (incident: string, said: Word) => boolean
}
type Answers = {
  readonly answer: (c: Context, value: unknown, status?: 200 | 201) => Reply
  readonly refuse: (c: Context, refusal: Refusal) => Response
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100))

export function addMaintenance(app: Hono, api: MaintenanceApi, { get }: Pick<IncidentsView, 'get'>, { answer, refuse }: Answers, now: () => number): void {
  const bad = (c: Context, message: string): Response => refuse(c, { code: 'bad_request', message })
  /** A statement about an existing incident, then the incident as it now is. */
  const said = async (c: Context, take: (incident: Incident, word: Word) => Refusal | undefined): Promise<Response> => {
    const id = c.req.param('id') ?? ''
    const incident = /^[0-9a-f]{16}$/.test(id) ? get(id) : undefined
    if (incident === undefined) return refuse(c, { code: 'not_found', message: `no incident ${quoted(id)}; /api/v1/incidents lists them` })
    const { parseWord } = await import('./maintenance-schemas.ts')
    const parsed = parseWord(await c.req.text())
    if ('problem' in parsed) return bad(c, parsed.problem)
    const refusal = take(incident, parsed.value)
    return refusal === undefined ? answer(c, get(id) ?? incident) : refuse(c, refusal)
  }

  app.get('/api/v1/silences', (c) => answer(c, api.silences()))
  app.post('/api/v1/silences', async (c) => {
    const { parseSilence } = await import('./maintenance-schemas.ts')
    const parsed = parseSilence(await c.req.text(), now())
    if ('problem' in parsed) return bad(c, parsed.problem)
    const made = api.silence(parsed.value)
    return made === undefined ? refuse(c, { code: 'conflict', message: 'there are too many silences; remove some' }) : answer(c, made, 201)
  })
  app.delete('/api/v1/silences/:id', (c) => {
    const id = c.req.param('id')
    return api.unsilence(id)
      ? c.body(null, 204, { 'Cache-Control': 'no-store' })
      : refuse(c, { code: 'not_found', message: `no silence ${quoted(id)}; /api/v1/silences lists them` })
  })
  app.post('/api/v1/incidents/:id/ack', (c) =>
    said(c, ({ id }, word) => {
      api.acknowledge(id, word)
      return undefined
    }),
  )
  app.post('/api/v1/incidents/:id/resolve', (c) =>
    said(c, ({ id, status }, word) =>
      api.resolve(id, word)
        ? undefined
        : { code: 'conflict', message: `incident ${id} is ${status}: only a firing incident can be acknowledged or marked as resolved` },
    ),
  )
}
