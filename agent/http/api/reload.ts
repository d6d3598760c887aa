// POST /-/reload: the configuration is read again, as on SIGHUP. Who may ask for it is decided in guards.ts.
import type { Context, Hono } from 'hono'
import type { Reply } from '../compress.ts'
import type { ReloadResult } from '../../model/reload.ts'
import type { Refusal } from '../errors.ts'
import { RELOAD_PATH } from '../guards.ts'

/** Resolves when the configuration is in force, or refused. */
export type ReloadApi = () => Promise<ReloadResult>

type Answers = {
  readonly answer: (c: Context, value: unknown) => Reply
  readonly refuse: (c: Context, refusal: Refusal) => Response
}

/** A file that is wrong everywhere must not make an answer of megabytes. */
const MAX_PROBLEMS = 50

export function addReload(app: Hono, reload: ReloadApi, { answer, refuse }: Answers): void {
  app.get(RELOAD_PATH, (c) =>
    refuse(c, { code: 'method_not_allowed', message: `Use POST: curl -X POST http://HOST:PORT${RELOAD_PATH}`, headers: { Allow: 'POST' } }),
  )
  app.post(RELOAD_PATH, async (c) => {
    const result = await reload()
    if (result.ok) return answer(c, { changed: result.changed, needs_restart: result.needs_restart, warnings: result.warnings })
    const { problems } = result
    const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : []
    const message = ['The configuration was not reloaded; the old one stays in force.', ...problems.slice(0, MAX_PROBLEMS), ...more].join('\n')
    return refuse(c, { code: 'invalid_configuration', message })
  })
}
