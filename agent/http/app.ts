// The routes behind the guards of server.ts: API, runbooks and the dashboard's files. /metrics, /ws, /healthz and /readyz do not pass here.
import { Hono } from 'hono'
import { addHosts, type HostsApi } from './api/hosts.ts'
import { FOR_FILES, reply } from './compress.ts'
import { addApi, answer, refuse, type ApiOptions } from './api/routes.ts'
import { MCP_PATH } from './guards.ts'
import { addRunbooks } from './runbooks.ts'
import { createStaticFiles, NOT_BUILT, PAGE_HEADERS } from './static.ts'

/** Answers a question of an assistant, whose body is read already; `ask` is a GET of this app. */
export type McpHandler = (request: Request, body: unknown, ask: (path: string) => Promise<unknown>) => Promise<Response>

export type AppOptions = ApiOptions & {
  /** undefined: this host is not shown in one row, and no others beside it. */
  readonly hosts?: HostsApi | undefined
  /** undefined: assistants are not answered. */
  readonly mcp?: McpHandler | undefined
  /** Where the built dashboard lies. */
  readonly dashboardDir: string
  /** Where the pages of the runbooks lie. */
  readonly runbooksDir: string
  readonly onError: (error: unknown) => void
}

async function errorOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined)
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string' ? error.message : `status ${response.status}`
}

function addMcp(app: Hono, mcp: McpHandler): void {
  const ask = async (path: string): Promise<unknown> => {
    const response = await app.request(path)
    if (!response.ok) throw new Error(await errorOf(response))
    return response.json()
  }
  app.post(MCP_PATH, async (c) => {
    let body: unknown
    try {
      body = await c.req.json()
    } catch {
      return refuse(c, { code: 'bad_request', message: 'body: this is no JSON; send a message of the Model Context Protocol' })
    }
    return mcp(new Request(c.req.url, { method: 'POST', headers: c.req.header() }), body, ask)
  })
  // Nothing is sent but answers, and no session is kept: a GET for a stream of events is refused as the protocol says.
  app.get(MCP_PATH, (c) => refuse(c, { code: 'method_not_allowed', message: `${MCP_PATH}: the method must be POST, not GET`, headers: { Allow: 'POST' } }))
}

export function createApp({ dashboardDir, runbooksDir, onError, mcp, hosts, ...api }: AppOptions): Hono {
  const app = new Hono()
  const files = createStaticFiles(dashboardDir)

  addApi(app, api)
  addRunbooks(app, runbooksDir, refuse)
  if (hosts !== undefined) addHosts(app, hosts, dashboardDir, { answer, refuse })
  if (mcp !== undefined) addMcp(app, mcp)

  app.get('/*', async (c) => {
    const { path } = c.req
    if (path.startsWith('/api/')) return refuse(c, { code: 'not_found', message: `${path.slice(0, 200)}: no such path; /api/v1/openapi.json names them all` })
    const file = await files.get(path)
    if (file !== undefined)
      return reply(
        c,
        new Uint8Array(file.body),
        { ...PAGE_HEADERS, 'Content-Type': file.contentType, 'Cache-Control': file.cacheControl },
        { offered: FOR_FILES },
      )
    if (path === '/') return c.text(NOT_BUILT, 404, { 'X-Content-Type-Options': 'nosniff' })
    return refuse(c, { code: 'not_found', message: `${path.slice(0, 200)}: no such path` })
  })
  app.onError((error, c) => {
    onError(error)
    return refuse(c, { code: 'internal', message: 'the agent failed on this request; its log says why' })
  })
  return app
}
