// The JSON API under /api/v1: the present from the shared rows, the past from the history.
import type { Context, Hono } from 'hono'
import { reply, type Reply } from '../compress.ts'
import { errorBody, STATUS, type Refusal } from '../errors.ts'
import { AnswerTooLargeError, type HistorySeries, type HistoryView } from '../../store/history-view.ts'
import type { Views } from '../views.ts'
import { catalogue, metricNamed } from '../../catalogue.ts'
import { nearest } from '../../lib/nearest.ts'
import { addContainerSettings, type ContainerSettingsOf } from './container-settings.ts'
import { addDoctor, type DoctorApi } from './doctor.ts'
import { addFit } from './fit.ts'
import { addJobs, type JobApi } from './jobs.ts'
import { addIncidents, type IncidentApiOptions } from './incidents.ts'
import { addLogTail, type LogTailOf } from './log-tail.ts'
import { addMaintenance, type MaintenanceApi } from './maintenance.ts'
import { addNotifiers, type NotifierApi } from './notifiers.ts'
import { addReload, type ReloadApi } from './reload.ts'

export type ApiOptions = {
  readonly views: Views
  /** undefined: history is switched off. */
  readonly history: HistoryView | undefined
  /** undefined: nothing judges. */
  readonly incidents?: IncidentApiOptions | undefined
  /** undefined: nothing can be silenced, acknowledged or declared healthy. */
  readonly maintenance?: MaintenanceApi | undefined
  /** undefined: jobs are not followed. */
  readonly jobs?: JobApi | undefined
  /** undefined: there are no notifiers; the list is empty then. */
  readonly notifiers?: NotifierApi | undefined
  /** undefined: no engine is asked. */
  readonly containerSettings?: ContainerSettingsOf | undefined
  /** undefined: no lines of logs are shown. */
  readonly logTail?: LogTailOf | undefined
  /** undefined: the host is not checked. */
  readonly doctor?: DoctorApi | undefined
  /** undefined: there is nothing to read the configuration from. */
  readonly reload?: ReloadApi | undefined
  readonly now: () => number
}

const NO_STORE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } as const

export const refuse = (c: Context, refusal: Refusal): Response => c.body(errorBody(refusal), STATUS[refusal.code], { ...NO_STORE, ...refusal.headers })

export const answer = (c: Context, value: unknown, status: 200 | 201 = 200): Reply => reply(c, JSON.stringify(value), NO_STORE, { status })

const rendered = new WeakMap<object, Uint8Array<ArrayBuffer>>()
/** Rows of a tick as bytes, made once and shared: hundreds of readers that take nothing then hold one copy. */
function answerRows(c: Context, rows: object): Reply {
  let bytes = rendered.get(rows)
  if (bytes === undefined) {
    bytes = new TextEncoder().encode(JSON.stringify(rows))
    rendered.set(rows, bytes)
  }
  return reply(c, bytes, NO_STORE)
}

const METRIC_NAMES = catalogue.map(({ name }) => name.replace(/^warpwatch_/, ''))

const NO_NOTIFIERS: NotifierApi = {
  rows: () => [],
  test: (name) => Promise.reject(new Error(`no notifier ${name}`)),
  retry: () => 0,
}

export function addApi(app: Hono, options: ApiOptions): void {
  const { views, history, incidents, jobs, maintenance, notifiers = NO_NOTIFIERS, containerSettings, logTail, doctor, reload, now } = options
  app.get('/api/v1/host', (c) => answerRows(c, views.rows().host))
  app.get('/api/v1/gpus', (c) => answerRows(c, views.rows().gpus))
  app.get('/api/v1/containers', (c) => answerRows(c, views.rows().containers))
  app.get('/api/v1/processes', (c) => answerRows(c, views.rows().processes))
  app.get('/api/v1/allocators', (c) => answerRows(c, views.rows().allocators))
  app.get('/api/v1/progress', (c) => answerRows(c, views.rows().progress))
  app.get('/api/v1/servers', (c) => answerRows(c, views.rows().servers))
  app.get('/api/v1/gaps', (c) => answer(c, views.gaps()))
  app.get('/api/v1/sources', (c) => answer(c, views.sources()))
  app.get('/api/v1/series', async (c) => {
    const { parseSeriesQuery } = await import('./series-query.ts')
    const parsed = parseSeriesQuery(new URL(c.req.url).searchParams, now())
    if ('problem' in parsed) return refuse(c, { code: 'bad_request', message: parsed.problem })
    if (history === undefined) return refuse(c, { code: 'not_found', message: 'history is switched off (history.enabled: false)' })
    const { metric } = parsed.query
    // Either spelling names the metric; the agent's own `process_*` have no prefix at all.
    const names = metric.startsWith('warpwatch_') ? [metric] : [`warpwatch_${metric}`, metric]
    let found: readonly HistorySeries[] = []
    try {
      for (const name of names) {
        found = history.query({ ...parsed.query, metric: name })
        if (found.length > 0) break
      }
    } catch (error) {
      if (error instanceof AnswerTooLargeError) return refuse(c, { code: 'bad_request', message: error.message })
      throw error
    }
    if (found.length === 0 && !names.some((name) => metricNamed(name) !== undefined)) {
      const guess = nearest(metric.replace(/^warpwatch_/, ''), METRIC_NAMES)
      return refuse(c, { code: 'not_found', message: `no metric ${JSON.stringify(metric)}${guess === undefined ? '' : `; is ${guess} meant?`}` })
    }
    return answer(c, found)
  })
  if (incidents !== undefined) addIncidents(app, incidents, { answer, refuse })
  if (incidents !== undefined && maintenance !== undefined) addMaintenance(app, maintenance, incidents.incidents, { answer, refuse }, now)
  if (jobs !== undefined) addJobs(app, jobs, { answer, refuse })
  addNotifiers(app, notifiers, { answer, refuse })
  addContainerSettings(app, containerSettings ?? (() => undefined), () => views.rows().containers.map(({ container_id: id }) => id), { answer, refuse })
  addLogTail(app, logTail, () => views.rows().containers.map(({ container_id: id }) => id), { answer, refuse })
  addFit(app, { views, history, now }, { answer, refuse })
  if (doctor !== undefined) addDoctor(app, doctor, answer)
  if (reload !== undefined) addReload(app, reload, { answer, refuse })
  let openApi: string | undefined
  app.get('/api/v1/openapi.json', async (c) => {
    if (openApi === undefined) {
      const { createOpenApi } = await import('./openapi.ts')
      openApi = JSON.stringify(createOpenApi())
    }
    return reply(c, openApi, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' })
  })
}
