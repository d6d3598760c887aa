// The notifiers of the API: how each is, a test message to one of them, and what was set aside tried again. Who may is decided in guards.ts.
import type { Context, Hono } from 'hono'
import type { Reply } from '../compress.ts'
import { nearest } from '../../lib/nearest.ts'
import { INCIDENT_KINDS, isIncidentKind, type IncidentKind } from '../../model/kinds.ts'
import type { NotifierRow, NotifierTest } from '../../model/notification.ts'
import type { Refusal } from '../errors.ts'

export type NotifierApi = {
  readonly rows: () => readonly NotifierRow[]
  /** Sends a sample at once, past everything that waits. Only for names of `rows`. */
  readonly test: (name: string, kind?: IncidentKind) => Promise<NotifierTest>
  /** How many messages that were set aside are tried again. Only for names of `rows`. */
  readonly retry: (name: string) => number
}
type Answers = {
  readonly answer: (c: Context, value: unknown) => Reply
  readonly refuse: (c: Context, refusal: Refusal) => Response
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100))

/** Without zod: one word is all that can be said. */
export function parseTest(text: string): { readonly kind?: IncidentKind } | { readonly problem: string } {
  let body: unknown
  try {
    body = text === '' ? {} : JSON.parse(text)
  } catch {
    return { problem: 'body: this is no JSON; send one such as {"kind":"cuda_oom"}' }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { problem: 'body: must be an object such as {"kind":"cuda_oom"}' }
  const unknown = Object.keys(body).find((name) => name !== 'kind')
  if (unknown !== undefined) return { problem: `${quoted(unknown)}: unknown key; only kind can be given` }
  const kind: unknown = 'kind' in body ? body.kind : undefined
  if (kind === undefined) return {}
  if (typeof kind === 'string' && isIncidentKind(kind)) return { kind }
  const guess = typeof kind === 'string' ? nearest(kind.slice(0, 60), INCIDENT_KINDS) : undefined
  return { problem: `kind: must be a kind of incident such as ${guess ?? 'cuda_oom'}, not ${quoted(typeof kind === 'string' ? kind : typeof kind)}` }
}

export function addNotifiers(app: Hono, { rows, test, retry }: NotifierApi, { answer, refuse }: Answers): void {
  const named = (c: Context): NotifierRow | Refusal => {
    const name = c.req.param('name') ?? ''
    return rows().find((row) => row.name === name) ?? { code: 'not_found', message: `no notifier ${quoted(name)}; /api/v1/notifiers lists them` }
  }
  app.get('/api/v1/notifiers', (c) => answer(c, rows()))
  app.post('/api/v1/notifiers/:name/test', async (c) => {
    const found = named(c)
    if ('code' in found) return refuse(c, found)
    const parsed = parseTest(await c.req.text())
    return 'problem' in parsed ? refuse(c, { code: 'bad_request', message: parsed.problem }) : answer(c, await test(found.name, parsed.kind))
  })
  app.post('/api/v1/notifiers/:name/retry', (c) => {
    const found = named(c)
    return 'code' in found ? refuse(c, found) : answer(c, { notifier: found.name, retried: retry(found.name) })
  })
}
