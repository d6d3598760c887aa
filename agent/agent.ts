// The composition root: builds every part of the agent, starts them in order and stops them in reverse.
import { join } from 'node:path'
import type { Alerts } from '../alerts/service.ts'
import { createContainerSettingsBook } from './attribution/container-settings.ts'
import { createContainerDirectory } from './attribution/directory.ts'
import { createProcessIdentifier } from './attribution/process.ts'
import { metricNamed } from './catalogue.ts'
import type { Config } from './config/schema.ts'
import { customThresholds } from './diagnosis/custom-thresholds.ts'
import { createDetection } from './diagnosis/detection.ts'
import * as detectors from './diagnosis/detectors/index.ts'
import { createDiagnosis } from './diagnosis/diagnosis.ts'
import { incidentReport } from './diagnosis/incidents/report.ts'
import { createLogJudge } from './diagnosis/live-judge.ts'
import { logScanner } from './diagnosis/log-scanner.ts'
import { createExposition } from './http/exposition.ts'
import { createReadiness } from './http/health.ts'
import { createHttpServer } from './http/server.ts'
import { createViews } from './http/views.ts'
import { createLog } from './lib/log.ts'
import { proxyRules } from './lib/proxy.ts'
import { createScheduler } from './lib/scheduler.ts'
import { createSignal } from './lib/signal.ts'
import type { DoctorReport } from './model/doctor.ts'
import type { Incident } from './model/incident.ts'
import type { Sink } from './model/sink.ts'
import type { Log, Source } from './model/source.ts'
import { createPipeline, type Consumer } from './pipeline.ts'
import { createLiveSink } from './sinks/live.ts'
import type { OtlpSink } from './sinks/otlp/sink.ts'
import { createRecordingSink } from './sinks/recording.ts'
import * as figures from './sources/agent-self/figures.ts'
import type { SelfFigure } from './sources/agent-self/figures.ts'
import type { HostGpu, NvmlState, Services } from './sources/definition.ts'
import { createContainerRoster } from './sources/containers/roster.ts'
import * as registry from './sources/index.ts'
import { CHILD_ENTRY } from './sampler/entry.ts'
import type { Prefilter } from './sources/logs/prefilter.ts'
import { createCursorStore } from './store/cursors.ts'
import { openHistory, type History, type HistoryStats } from './store/history.ts'
import { createIncidentStore } from './store/incidents.ts'
import { createLatestStore, type LatestStore } from './store/latest.ts'
import { createLedger } from './store/ledger.ts'
import { createMaintained } from './store/maintained.ts'
import { createMaintenanceStore } from './store/maintenance.ts'

export type Agent = {
  readonly url: string
  readonly latest: LatestStore
  readonly stop: () => Promise<void>
}

/** Views are pulled this long after a second begins, when the scrapes of that second have come in. */
const VIEW_PHASE_MS = 250

/** Files beside this one: one folder in the build, the source tree in a checkout. */
const built = !import.meta.url.endsWith('.ts')
const here = import.meta.dirname
const DASHBOARD_DIR = built ? join(here, 'dashboard') : join(here, '../dist/dashboard')
const RUNBOOKS_DIR = built ? join(here, 'runbooks') : join(here, '../alerts/runbooks')

/** The GPUs of the host by their newest gpu_info. */
function hostGpus(latest: LatestStore): readonly HostGpu[] {
  const migs = latest.of('warpwatch_gpu_mig_info').map(({ series }) => series.labels)
  return latest
    .of('warpwatch_gpu_info')
    .map(({ series: { labels } }) => ({
      index: Number(labels['gpu']),
      uuid: labels['uuid'] ?? '',
      ...(labels['minor'] === undefined ? {} : { minor: Number(labels['minor']) }),
      mig: migs.flatMap((mig) => (mig['uuid'] === labels['uuid'] && mig['mig_uuid'] !== undefined ? [mig['mig_uuid']] : [])),
    }))
    .sort((a, b) => a.index - b.index)
}

/** A page rendered before a GPU first spoke must not be served after it did. */
function onNewGroup(changed: () => void): Consumer {
  const seen = new Set<string>()
  return {
    name: 'freshness',
    ingest(event) {
      if (event.type !== 'scrape' || seen.has(`${event.source}\n${event.group}`)) return
      if (seen.size > 10_000) seen.clear()
      seen.add(`${event.source}\n${event.group}`)
      changed()
    },
  }
}

/** Asking for the sizes costs a few queries, so it is done every ten seconds: every other time. */
function historyFigures(history: History): () => readonly SelfFigure[] {
  let asked = 0
  let told: readonly SelfFigure[] = []
  return () => {
    if (asked++ % 2 === 0) told = figuresOf(history.stats())
    return told
  }
}
function figuresOf({ bytes, series, degraded }: HistoryStats): readonly SelfFigure[] {
  return [
    { metric: figures.historyBytes, labels: {}, value: bytes },
    { metric: figures.historySeries, labels: {}, value: series },
    { metric: figures.historyDegraded, labels: {}, value: degraded === undefined ? 0 : 1 },
  ]
}

/** A line that holds a literal of any fault family, or a mark of progress; sources may not know them themselves. */
function interestingBytes(): Prefilter {
  const { search, familiesOf } = logScanner()
  let found: boolean | 'mark' = false
  const hit = (_: number, literal: number): void => {
    if (familiesOf(literal).length > 0) found = true
    else if (!found) found = 'mark'
  }
  return (bytes, start, end) => {
    found = false
    search.inBytes(bytes, start, end, hit)
    return found
  }
}

/** Loaded when somebody asks. */
function lookAtHost(config: Config): () => Promise<DoctorReport> {
  let doctor: Promise<() => Promise<DoctorReport>> | undefined
  return async () => {
    doctor ??= import('./doctor/service.ts').then(({ createDoctor }) => createDoctor(config))
    const look = await doctor
    return look()
  }
}

/** Loaded only where there is a receiver. */
async function otlpSink(config: Config, latest: LatestStore, unresolved: readonly Incident[], log: Log): Promise<OtlpSink | undefined> {
  const { endpoint, metrics_endpoint, logs_endpoint } = config.otlp
  if (endpoint === '' && metrics_endpoint === '' && logs_endpoint === '') return undefined
  const { createOtlpSink } = await import('./sinks/otlp/sink.ts')
  const resource = { hostname: config.host_name, procRoot: config.host.proc_root, dataDir: config.data_dir, extra: config.otlp.resource_attributes }
  return createOtlpSink({ settings: config.otlp, proxyFor: proxyRules(config.http_client), resource, latest, known: unresolved.map(({ id }) => id), log })
}

export async function startAgent(config: Config, options: { readonly record?: string; readonly log: Log }): Promise<Agent> {
  const { log } = options
  const logFor = (part: string): Log => createLog(part, config.log.level)
  // Where nobody is to hear of anything, no part of alerts is loaded and nothing is written.
  const notifies = config.notifiers.length > 0 || config.alerts.heartbeat_url !== ''
  let alerts: Alerts | undefined
  const latest = createLatestStore()
  const ledger = createLedger()
  const exposition = createExposition({ latest, dcgm: config.metrics.dcgm, hostnameLabel: config.metrics.hostname_label, hostname: config.host_name })
  const views = createViews({ latest, hostname: config.host_name })
  const simulated = config.simulate.scenario !== 'off'
  const settings = createContainerSettingsBook()
  const incidents = createIncidentStore({ directory: config.data_dir, log: logFor('incidents') })
  const maintenance = createMaintenanceStore({ directory: config.data_dir, log: logFor('incidents') })
  const detection = createDetection({
    definitions: [...Object.values(detectors), ...customThresholds(config.detectors.custom)],
    settings: config.detectors.settings,
    onFailure: (id, error) => log.error(`detector ${id} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  })
  const diagnosis = createDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    detection,
    hostname: config.host_name,
    settingsOf: settings.get,
    // The stream is made below: no event comes before it is there.
    onChange(incident) {
      incidents.save(incident)
      maintained.changed(incident)
    },
    onAccepted: maintenance.keepAccepted,
  })
  const maintained = createMaintained({
    incidents,
    maintenance,
    figures: diagnosis.figures,
    tell(incident) {
      live.incident(incident)
      alerts?.changed(incident)
      otlp?.incident(incident)
    },
    setHealthy: (incident, said, t) => pipeline.ingest({ type: 'operator', t, action: 'set_healthy', incident, ...said }),
  })
  const live = createLiveSink({ views, hostname: config.host_name, simulated, maxReaders: config.http.max_readers, firing: maintained.firing })

  const sinks: Sink[] = [live]
  if (options.record !== undefined) sinks.push(createRecordingSink({ path: options.record, host: config.host_name, log: logFor('recording') }))
  const otlp = await otlpSink(config, latest, incidents.unresolved(), logFor('otlp'))
  if (otlp !== undefined) sinks.push(otlp)
  const history = openHistory(config, logFor('history'))
  const refresh = (): void => {
    exposition.invalidate()
    views.invalidate()
  }
  const present: Consumer = { name: 'latest', ingest: (event) => (event.type === 'scrape' ? latest.apply(event) : undefined) }
  const pipeline = createPipeline([present, ledger, ...(history === undefined ? [] : [history]), diagnosis, onNewGroup(refresh)], sinks, log)

  const directory = createContainerDirectory()
  const selfReports: readonly (() => readonly SelfFigure[])[] = [
    () => sinks.map((sink) => ({ metric: figures.sinkDropped, labels: { sink: sink.name }, value: sink.dropped() })),
    ...(otlp === undefined ? [] : [() => figures.otlpFigures(otlp.counts())]),
    () => [{ metric: figures.streamReaders, labels: {}, value: live.readers() }],
    () => [...pipeline.failures()].map(([consumer, value]) => ({ metric: figures.consumerFailures, labels: { consumer }, value })),
    ...(history === undefined ? [] : [historyFigures(history)]),
  ]
  const cursors = createCursorStore({ directory: config.data_dir, log: logFor('cursors') })
  const services: Services = {
    config,
    roster: createContainerRoster(),
    cursors,
    interesting: interestingBytes(),
    childEntry: CHILD_ENTRY,
    directory,
    settings,
    incidents: maintained.figures,
    notifications: notifies ? () => alerts?.figures() ?? { notifiers: [] } : undefined,
    identify: createProcessIdentifier({ procRoot: config.host.proc_root, directory }),
    latest,
    ledger,
    gpus: () => hostGpus(latest),
    nvml: createSignal<NvmlState>('off'),
    metricNamed,
    selfReports,
  }
  const sources: readonly Source[] = Object.values(registry).flatMap((definition) => definition.create(services) ?? [])

  const ready = createReadiness(latest)
  const scrapes = createScheduler(log)
  const pulls = createScheduler(log, VIEW_PHASE_MS)
  const server = createHttpServer({
    listen: config.http.listen,
    token: config.http.token,
    insecure: config.http.insecure,
    allowedOrigins: config.http.allowed_origins,
    allowedHosts: config.http.allowed_hosts,
    history,
    incidents: { incidents: maintained.view, report: (incident: Incident) => incidentReport(incident, config.host_name) },
    maintenance: maintained,
    notifiers: {
      rows: () => alerts?.rows() ?? [],
      test: (name, kind) => (alerts === undefined ? Promise.reject(new Error('alerts have not been started')) : alerts.test(name, kind)),
      retry: (name) => alerts?.retry(name) ?? 0,
    },
    containerSettings: settings.get,
    doctor: lookAtHost(config),
    views,
    exposition,
    live,
    ready,
    dashboardDir: DASHBOARD_DIR,
    runbooksDir: RUNBOOKS_DIR,
    log: logFor('http'),
  })
  // The port first: when it is taken, nothing has been touched yet.
  const url = await server.listen()
  if (notifies) {
    const { createAlerts } = await import('../alerts/service.ts')
    alerts = await createAlerts({ config, url, incident: maintained.view.get, ready: () => ready().ready, log: logFor('alerts') })
  }
  diagnosis.restore(incidents.unresolved(), maintenance.accepted())
  alerts?.start(maintained.firing())
  await Promise.all(sources.map(async (source) => source.start({ emit: pipeline.ingest, every: scrapes.every, log: logFor(source.id) })))
  pulls.every(1_000, (t) => {
    latest.expire(t)
    ledger.expire(t)
    refresh()
    pipeline.tick(t)
    history?.maintain(t)
    incidents.maintain(t)
    maintained.maintain(t)
    alerts?.maintain(t)
  })

  return {
    url,
    latest,
    async stop() {
      scrapes.stop()
      pulls.stop()
      await server.close()
      await Promise.all(sources.map(async (source) => source.stop()))
      cursors.close()
      for (const sink of sinks) await sink.close()
      diagnosis.flush()
      // What the last events said is in its outbox now; the store is asked until the last message is put together.
      await alerts?.stop()
      incidents.close()
      maintenance.close()
      history?.close()
    },
  }
}
