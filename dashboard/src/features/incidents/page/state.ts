// One incident whole: fetched when its page is opened, and again whenever the stream tells something new of it.
import { effect, signal } from '@preact/signals'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { ApiError, getJson, getText, storedToken } from '../../../parts/connection/api.ts'
import { parseIncident } from '../../../parts/connection/messages.ts'
import { incidents } from '../../../parts/incident/known.ts'
import { connection } from '../../../parts/live/state.ts'

export type Detail =
  | { readonly state: 'asking' }
  | { readonly state: 'there'; readonly incident: Incident }
  | { readonly state: 'unknown' }
  | { readonly state: 'failed'; readonly why: string }

export const detail = signal<Detail>({ state: 'asking' })
/** An incident that counts up a hundred times a second is asked for once in a while. */
const PAUSE_MS = 1_000

const pathOf = (id: string): string => `api/v1/incidents/${encodeURIComponent(id)}`

/** Follows the incident until the returned function is called. */
export function watchDetail(id: string): () => void {
  let over = false
  let busy = false
  let again = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = async (): Promise<void> => {
    if (busy) {
      again = true
      return
    }
    busy = true
    again = false
    const answer = await getJson(pathOf(id), storedToken())
      .then((value): Detail => ({ state: 'there', incident: parseIncident(value) }))
      .catch((error: unknown): Detail => {
        if (!(error instanceof ApiError)) return { state: 'failed', why: 'the agent does not answer' }
        return error.failure.code === 'not_found' ? { state: 'unknown' } : { state: 'failed', why: error.failure.message }
      })
    if (over) return
    // What was there stays when the agent goes away; the status line says that it is old.
    if (answer.state !== 'failed' || detail.peek().state !== 'there') detail.value = answer
    timer = setTimeout(() => {
      busy = false
      if (again) void ask()
    }, PAUSE_MS)
  }
  detail.value = { state: 'asking' }
  const stop = effect(() => {
    void incidents.value.get(id)
    if (connection.value.state === 'live') void ask()
  })
  return () => {
    over = true
    clearTimeout(timer)
    stop()
  }
}

export const reportOf = (id: string): Promise<string> => getText(`${pathOf(id)}/report`, storedToken())
/** Runbooks tell nothing about the host: no token is asked for. */
export const runbookOf = (kind: string): Promise<string> => getText(`runbooks/${encodeURIComponent(kind)}`, undefined)
