// A running server over the fixed store, and a plain client that may send any header.
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createExposition } from '../../../agent/http/exposition.ts'
import { createReadiness } from '../../../agent/http/health.ts'
import { createHttpServer, type HttpServerOptions } from '../../../agent/http/server.ts'
import { createViews } from '../../../agent/http/views.ts'
import { createLiveSink, type LiveSinkOptions } from '../../../agent/sinks/live.ts'
import { incidentReport } from '../../../agent/diagnosis/incidents/report.ts'
import { summaryOf as hostSummaryOf } from '../../../agent/hosts/summary.ts'
import { summaryOf } from '../../../agent/model/incident.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import type { WasteSummary } from '../../../agent/model/ledger.ts'
import type { HistoryQuery, HistorySeries } from '../../../agent/store/history-view.ts'
import { REPORT } from '../doctor/report-fixture.ts'
import { jobIdOf, slurmJobId } from '../../../agent/jobs/identity.ts'
import { runLine } from '../../../agent/jobs/line.ts'
import { jobReport } from '../../../agent/jobs/report.ts'
import { fillStore, T } from './fixture.ts'
import { INCIDENT, NOTIFIER, SILENCE } from './incident-fixture.ts'
import { JOB, RUN } from './job-fixture.ts'

const SUMMARY = hostSummaryOf({ host: 'gpu-01', version: '1', simulated: false, gpus: [], firing: [summaryOf(INCIDENT)], running: 1 }, T)

export type Bytes = { readonly status: number; readonly headers: Readonly<Record<string, string | string[] | undefined>>; readonly body: Buffer }
export type Answer = Omit<Bytes, 'body'> & { readonly text: string }

/** `target`: sent as it is instead of the URL's path. */
export async function get(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET', sent?: string, target?: string): Promise<Answer> {
  const { body, ...rest } = await getBytes(url, headers, method, sent, target)
  return { ...rest, text: body.toString() }
}

/** The body as it came, compressed or not. */
export const getBytes = (url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET', body?: string, target?: string): Promise<Bytes> =>
  new Promise((resolve, reject) => {
    const call = request(url, { method, headers, agent: false, ...(target === undefined ? {} : { path: target }) }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }))
    })
    call.on('error', reject)
    call.end(body)
  })

/** The status line for a path and headers as they are: clients tidy both up before they send them. */
export const rawGet = (url: string, path: string, headers = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`))
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.on('end', () => resolve(text.slice(0, text.indexOf('\r\n'))))
    socket.on('error', reject)
  })

type Options = { readonly http?: Partial<HttpServerOptions>; readonly live?: Partial<LiveSinkOptions>; readonly empty?: boolean }

const WASTE: WasteSummary = {
  host: 'gpu-01',
  from: 0,
  to: 86_400_000,
  rows: [
    {
      user: 'ada',
      gpu_hours_held: 20,
      gpu_hours_idle: 12,
      gpu_hours_queueable: 10,
      gpu_hours_lost: 1,
      died: [{ job: 'train', job_id: 'a'.repeat(16), runs: 2, gpu_hours_lost: 1 }],
      oversized: [],
    },
  ],
}

export async function runServer({ http = {}, live: liveOptions = {}, empty = false }: Options = {}) {
  const latest = createLatestStore()
  if (!empty) fillStore(latest)
  const clock = { now: T + 400 }
  const views = createViews({ latest, hostname: 'gpu-01' })
  const exposition = createExposition({ latest, dcgm: 'classic', hostnameLabel: 'Hostname', hostname: 'gpu-01' })
  const live = createLiveSink({ views, hostname: 'gpu-01', simulated: false, maxReaders: 100, ...liveOptions })
  const queries: HistoryQuery[] = []
  const past: HistorySeries[] = []
  const errors: string[] = []
  const server = createHttpServer({
    listen: '127.0.0.1:0',
    token: '',
    insecure: false,
    allowedOrigins: [],
    allowedHosts: [],
    views,
    history: {
      query: (query) => {
        queries.push(query)
        return past.filter(({ metric }) => metric === query.metric)
      },
    },
    incidents: {
      incidents: { list: () => [summaryOf(INCIDENT)], get: (id) => (id === INCIDENT.id ? INCIDENT : undefined) },
      report: (incident) => incidentReport(incident, 'gpu-01'),
    },
    jobs: {
      view: { list: () => [JOB], groups: () => [], runs: (id) => ([INCIDENT.id, slurmJobId('4711')].includes(id) ? [RUN] : []) },
      waste: () => WASTE,
      report: (runs) => jobReport(runs, 'gpu-01'),
      line: runLine,
      idOf: jobIdOf,
      record: () => RUN,
      send: () => undefined,
    },
    maintenance: { silences: () => [SILENCE], silence: () => SILENCE, unsilence: (id) => id === SILENCE.id, acknowledge: () => {}, resolve: () => false },
    containerSettings: (id) => (id.startsWith(INCIDENT.id.slice(0, 12)) ? INCIDENT.evidence.container : undefined),
    logTail: (id) => (id.startsWith(INCIDENT.id.slice(0, 12)) ? { lines: [{ t: T, text: 'epoch 3' }], next: 1 } : undefined),
    doctor: () => Promise.resolve(REPORT),
    notifiers: { rows: () => [NOTIFIER], test: () => Promise.reject(new Error('not sent from here')), retry: () => 0 },
    hosts: {
      summary: () => SUMMARY,
      entries: () => [{ name: 'gpu-01', self: true, summary: SUMMARY, seen_at: T }],
      get: () => Promise.resolve(undefined),
      hangEvidence: (master) => (master === 'node-a:29500' ? '{"warpwatch_hang_evidence":1}' : undefined),
    },
    exposition,
    live,
    ready: createReadiness(latest, () => clock.now),
    dashboardDir: '/nonexistent/dashboard',
    runbooksDir: join(import.meta.dirname, '../../../alerts/runbooks'),
    log: { info: () => {}, warn: () => {}, error: (text) => errors.push(text) },
    now: () => clock.now,
    ...http,
  })
  const url = await server.listen()
  return {
    url,
    wsUrl: `${url.replace('http', 'ws')}/ws`,
    server,
    live,
    latest,
    views,
    exposition,
    clock,
    queries,
    past,
    errors,
    tick: (t: number) => {
      views.invalidate()
      exposition.invalidate()
      live.tick(t)
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
    },
  }
}
