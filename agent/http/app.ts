// The routes behind the guards of server.ts: health, API, runbooks and the dashboard's files. /metrics and /ws do not pass here.
import { Hono } from 'hono'
import { FOR_FILES, reply } from './compress.ts'
import { addApi, refuse, type ApiOptions } from './api/routes.ts'
import type { Readiness } from './health.ts'
import { addRunbooks } from './runbooks.ts'
import { createStaticFiles, NOT_BUILT, PAGE_HEADERS } from './static.ts'

export type AppOptions = ApiOptions & {
  readonly ready: () => Readiness
  /** Where the built dashboard lies. */
  readonly dashboardDir: string
  /** Where the pages of the runbooks lie. */
  readonly runbooksDir: string
  readonly onError: (error: unknown) => void
}

export function createApp({ ready, dashboardDir, runbooksDir, onError, ...api }: AppOptions): Hono {
  const app = new Hono()
  const files = createStaticFiles(dashboardDir)

  app.get('/healthz', (c) => c.json({ status: 'ok' }, 200, { 'Cache-Control': 'no-store' }))
  app.get('/readyz', (c) => {
    const { ready: isReady, ...rest } = ready()
    return c.json({ status: isReady ? 'ready' : 'not_ready', ...rest }, isReady ? 200 : 503, { 'Cache-Control': 'no-store' })
  })
  addApi(app, api)
  addRunbooks(app, runbooksDir, refuse)

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
