// The last lines of a container's log, those after a number that the answer before gave. Who may ask is in guards.ts.
import type { Hono } from 'hono'
import type { LogTailAnswer } from '../../model/log-tail.ts'
import type { Answers } from './incidents.ts'

export type LogTailOf = (containerId: string, after: number) => LogTailAnswer | undefined

const EMPTY: LogTailAnswer = { lines: [], next: 0 }

/** `tail` is undefined where the configuration keeps no lines; `ids` are those of the containers that are there now. */
export function addLogTail(app: Hono, tail: LogTailOf | undefined, ids: () => readonly string[], { answer, refuse }: Answers): void {
  app.get('/api/v1/containers/:id/log', (c) => {
    if (tail === undefined) return refuse(c, { code: 'not_found', message: 'log lines are not shown (logs.tail: false)' })
    const id = c.req.param('id')
    const after = c.req.query('after') ?? '0'
    if (!/^\d{1,15}$/.test(after))
      return refuse(c, { code: 'bad_request', message: `after: must be a whole number, not ${JSON.stringify(after.slice(0, 100))}` })
    const found = /^[0-9a-f]{12,64}$/.test(id) ? tail(id, Number(after)) : undefined
    if (found !== undefined) return answer(c, found)
    if (ids().some((known) => known === id.slice(0, 12))) return answer(c, EMPTY)
    return refuse(c, { code: 'not_found', message: `container ${JSON.stringify(id.slice(0, 100))} is not known. List them: /api/v1/containers` })
  })
}
