// This host in one row, the rows of the other hosts, and the API of each of them, read-only: its token is added here and never leaves.
import type { Hono } from 'hono'
import { EVIDENCE_PATH, type HostEntry, type HostSummary } from '../../model/hosts.ts'
import { createStaticFiles, PAGE_HEADERS } from '../static.ts'
import type { Answers } from './incidents.ts'

export type HostsApi = {
  readonly summary: () => HostSummary
  /** This one first. */
  readonly entries: () => readonly HostEntry[]
  /** GET of a path of that host's API; undefined: there is no such host. */
  readonly get: (name: string, path: string) => Promise<{ readonly status: number; readonly body: Buffer } | { readonly problem: string } | undefined>
  /** What was found out here about the ranks of a job that hangs, as JSON; undefined: nothing lately. */
  readonly hangEvidence: (master: string) => string | undefined
}

/** What a page reads; a name with anything else in it is no path of the API. */
const API_PATH = /^\/api\/v1(?:\/[\w.-]{1,200}){1,4}$/
const MAX_PATH = 4_000

export function addHosts(app: Hono, { summary, entries, get, hangEvidence }: HostsApi, dashboardDir: string, { answer, refuse }: Answers): void {
  const files = createStaticFiles(dashboardDir)
  app.get('/api/v1/summary', (c) => answer(c, summary()))
  app.get('/api/v1/hosts', (c) => answer(c, entries()))
  app.get(EVIDENCE_PATH, (c) => {
    const master = c.req.query('master') ?? ''
    const found = hangEvidence(master)
    if (found === undefined)
      return refuse(c, { code: 'not_found', message: `master: no job that hangs and has ranks elsewhere meets at ${JSON.stringify(master.slice(0, 200))}` })
    return c.body(found, 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  })

  app.get('/hosts/:name/api/*', async (c) => {
    const name = c.req.param('name')
    const { pathname, search } = new URL(c.req.url)
    const path = pathname.slice(`/hosts/${name}`.length)
    if (!API_PATH.test(path) || search.length > MAX_PATH)
      return refuse(c, { code: 'not_found', message: `${path.slice(0, 200)}: no such path of another host` })
    const found = await get(name, `${path}${search}`)
    if (found === undefined) return refuse(c, { code: 'not_found', message: `no host ${name.slice(0, 100)} is configured (hosts)` })
    if ('problem' in found) return refuse(c, { code: 'unreachable', message: `${name}: ${found.problem}` })
    return relayed(found.status, found.body)
  })
  // The page of another host is ours, with its figures: nothing that another host sends is run.
  app.get('/hosts/:name/*', async (c) => {
    const file = await files.get(c.req.path.slice(`/hosts/${c.req.param('name')}`.length))
    if (file === undefined) return refuse(c, { code: 'not_found', message: `${c.req.path.slice(0, 200)}: no such path` })
    return c.body(new Uint8Array(file.body), 200, { ...PAGE_HEADERS, 'Content-Type': file.contentType, 'Cache-Control': file.cacheControl })
  })
}

/** As JSON or plain text, whatever it is: a browser must not run it. */
function relayed(status: number, body: Buffer): Response {
  const isJson = /^\s*[[{"\dtfn-]/.test(body.subarray(0, 32).toString('latin1'))
  return new Response(new Uint8Array(body), {
    status: status >= 200 && status <= 599 ? status : 502,
    headers: {
      'Content-Type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
  })
}
