// The runbooks: one page of Markdown for each kind of incident and for messages about something else, and a list of them. They reveal nothing about the host, so no token is needed.
import type { Context, Hono } from 'hono'
import { nearest } from '../lib/nearest.ts'
import { INCIDENT_KINDS } from '../model/kinds.ts'
import { MESSAGE_PAGE_NAMES } from '../model/message-pages.ts'
import { reply, type Reply } from './compress.ts'
import type { Refusal } from './errors.ts'
import { createStaticFiles } from './static.ts'

const FIRST_LINE = /^# `([a-z][a-z0-9_]*)`: (.+)$/m
const PAGES: readonly string[] = [...INCIDENT_KINDS, ...MESSAGE_PAGE_NAMES]
const isBrowser = (accept: string | undefined): boolean => accept?.includes('text/html') === true

/** Only names that are in the folder are served (static.ts), so no path can lead out of it. */
export function addRunbooks(app: Hono, folder: string, refuse: (c: Context, refusal: Refusal) => Response): void {
  const files = createStaticFiles(folder)
  const text = async (kind: string): Promise<string | undefined> => (await files.get(`/${kind}.md`))?.body.toString('utf8')
  const send = (c: Context, markdown: string): Reply =>
    reply(c, markdown, {
      // Browsers save what they do not know; as plain text they show it.
      'Content-Type': isBrowser(c.req.header('accept')) ? 'text/plain; charset=utf-8' : 'text/markdown; charset=utf-8',
      'Cache-Control': 'no-cache',
      Vary: 'Accept',
      'X-Content-Type-Options': 'nosniff',
    })

  app.get('/runbooks', async (c) => {
    const pages = await Promise.all(PAGES.map(text))
    const titles = pages.flatMap((page) => {
      const [, kind, title] = FIRST_LINE.exec(page ?? '') ?? []
      return kind === undefined || title === undefined ? [] : [`- [\`${kind}\`](/runbooks/${kind}): ${title}`]
    })
    if (titles.length === 0) return refuse(c, { code: 'not_found', message: 'the runbooks are not here: npm run build puts them beside the agent' })
    return send(c, `# Runbooks\n\n${titles.join('\n')}\n`)
  })
  app.get('/runbooks/:kind', async (c) => {
    const kind = c.req.param('kind').slice(0, 100)
    const page = PAGES.includes(kind) ? await text(kind) : undefined
    if (page !== undefined) return send(c, page)
    const guess = nearest(kind, PAGES)
    const near = guess === undefined || guess === kind ? '' : `; is ${guess} meant?`
    return refuse(c, { code: 'not_found', message: `no runbook ${JSON.stringify(kind)}${near} /runbooks lists them` })
  })
}
