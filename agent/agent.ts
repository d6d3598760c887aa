// The composition root: builds every part of the agent, starts them in order and stops them in reverse.
import { join } from 'node:path'
import type { Alerts } from '../alerts/service.ts'
import { createContainerSettingsBook } from './attribution/container-settings.ts'
import { createContainerDirectory } from './attribution/directory.ts'
import { createJobMapping } from './attribution/job-mapping.ts'
import { createProcessIdentifier } from './attribution/process.ts'
import { createReloader, type Reloader, type ReloaderOptions, type ReloadPart } from './config/reload.ts'
import type { Config } from './config/schema.ts'
import { createCustomThresholds } from './diagnosis/custom-thresholds.ts'
import { createDetection } from './diagnosis/detection.ts'
import type { DetectorDefinition } from './diagnosis/detectors/definition.ts'
import * as detectors from './diagnosis/detectors/index.ts'
import { createDiagnosis } from './diagnosis/diagnosis.ts'
import { incidentReport } from './diagnosis/incidents/report.ts'
import { createLogJudge } from './diagnosis/live-judge.ts'
import { createLineFilter } from './diagnosis/line-filter.ts'
import { logScanner } from './diagnosis/log-scanner.ts'
import { accessOf } from './http/auth.ts'
import { createExposition, type Exposition } from './http/exposition.ts'
import { onNewGroup } from './http/freshness.ts'
import { createReadiness } from './http/health.ts'
import { createHttpServer } from './http/server.ts'
import { createViews } from './http/views.ts'
import type { Logger } from './lib/log.ts'
import { proxyRules } from './lib/proxy.ts'
import { createScheduler } from './lib/scheduler.ts'
import { createSignal } from './lib/signal.ts'
import type { DoctorReport } from './model/doctor.ts'
import type { Incident } from './model/incident.ts'
import type { ReloadResult, ReloadState } from './model/reload.ts'
import type { Sink } from './model/sink.ts'
import type { Log } from './model/source.ts'
import { createPipeline, type Consumer } from './pipeline.ts'
import { createLiveSink } from './sinks/live.ts'
import type { OtlpSink } from './sinks/otlp/sink.ts'
import { createRecordingSink } from './sinks/recording.ts'
import * as figures from './sources/agent-self/figures.ts'
import type { SelfFigure } from './sources/agent-self/figures.ts'
import { historyFigures } from './sources/agent-self/history-figures.ts'
import type { NvmlState, ReloadableSource, Services } from './sources/definition.ts'
import { createContainerRoster } from './sources/containers/roster.ts'
import * as registry from './sources/index.ts'
import { CHILD_ENTRY } from './sampler/entry.ts'
import { createCursorStore } from './store/cursors.ts'
import { secureDataDirectory } from './store/data-directory.ts'
import { openHistory } from './store/history.ts'
import { createIncidentStore } from './store/incidents.ts'
import { createLatestStore, type LatestStore } from './store/latest.ts'
import { createLedger } from './store/ledger.ts'
import { createMaintained } from './store/maintained.ts'
import { createMaintenanceStore } from './store/maintenance.ts'

export type Agent = {
  readonly url: string
  readonly latest: LatestStore
  /** Reads the configuration again; what can be taken while the agent runs holds from then on. */
  readonly reload: () => Promise<ReloadResult>
  readonly stop: () => Promise<void>
}

/** Views are pulled this long after a second begins, when the scrapes of that second have come in. */
const VIEW_PHASE_MS = 250

/** Files beside this one: one folder in the build, the source tree in a checkout. */
const built = !import.meta.url.endsWith('.ts')
const here = import.meta.dirname
const DASHBOARD_DIR = built ? join(here, 'dashboard') : join(here, '../dist/dashboard')
const RUNBOOKS_DIR = built ? join(here, 'runbooks') : join(here, '../alerts/runbooks')

/** Loaded when somebody asks. */
function lookAtHost(inForce: () => Config): () => Promise<DoctorReport> {
  let doctor: Promise<() => Promise<DoctorReport>> | undefined
  let of: Config | undefined
  return async () => {
    const config = inForce()
    if (of !== config) doctor = undefined
    of = config
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

/** Where nobody is to hear of anything, no part of alerts is loaded and nothing is written. */
const notifies = ({ notifiers, alerts }: Config): boolean => notifiers.length > 0 || alerts.heartbeat_url !== ''

export type AgentOptions = { readonly record?: string; readonly logger: Logger; readonly read: ReloaderOptions['read'] }

export async function startAgent(config: Config, { record, logger, read }: AgentOptions): Promise<Agent> {
  const logFor = logger.part
  const log = logFor('agent')
  let alerts: Alerts | undefined
  const latest = createLatestStore()
  const ledger = createLedger()
  const expositionOf = ({ metrics, host_name: hostname }: Config): Exposition =>
    createExposition({
      latest,
      dcgm: metrics.dcgm,
      hostnameLabel: metrics.hostname_label,
      hostname,
      holders: metrics.dcgm_holders,
      identity: metrics.dcgm_identity_labels,
      jobs: metrics.hpc_job_mapping_dir === '' ? undefined : createJobMapping(metrics.hpc_job_mapping_dir),
    })
  let exposition = expositionOf(config)
  const views = createViews({ latest, hostname: config.host_name })
  const simulated = config.simulate.scenario !== 'off'
  const settings = createContainerSettingsBook()
  secureDataDirectory(config.data_dir, logFor('store'))
  const incidents = createIncidentStore({ directory: config.data_dir, log: logFor('incidents') })
  const maintenance = createMaintenanceStore({ directory: config.data_dir, log: logFor('incidents') })
  const customThresholds = createCustomThresholds()
  const definitionsOf = (of: Config): readonly DetectorDefinition[] => [...Object.values(detectors), ...customThresholds(of.detectors.custom)]
  const detection = createDetection({
    definitions: definitionsOf(config),
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
  if (record !== undefined) sinks.push(createRecordingSink({ path: record, host: config.host_name, log: logFor('recording') }))
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
  const reloads = createSignal<ReloadState>({ successful: true, succeededAt: Date.now() })
  const services: Services = {
    config,
    reloads,
    roster: createContainerRoster(),
    cursors,
    interesting: createLineFilter(),
    childEntry: CHILD_ENTRY,
    directory,
    settings,
    incidents: maintained.figures,
    notifications: () => alerts?.figures(),
    identify: createProcessIdentifier({ procRoot: config.host.proc_root, directory }),
    latest,
    ledger,
    nvml: createSignal<NvmlState>('off'),
    selfReports,
  }
  const sources: readonly ReloadableSource[] = Object.values(registry).flatMap((definition) => definition.create(services) ?? [])

  const ready = createReadiness(latest)
  const started = Promise.withResolvers<void>()
  // Whoever asks earlier waits: the parts that take a configuration must be there.
  const reload = async (): Promise<ReloadResult> => {
    await started.promise
    return reloader.reload()
  }
  const scrapes = createScheduler(log)
  const pulls = createScheduler(log, VIEW_PHASE_MS)
  const server = createHttpServer({
    ...accessOf(config),
    history,
    incidents: { incidents: maintained.view, report: (incident: Incident) => incidentReport(incident, config.host_name) },
    maintenance: maintained,
    notifiers: {
      rows: () => alerts?.rows() ?? [],
      test: (name, kind) => (alerts === undefined ? Promise.reject(new Error('alerts have not been started')) : alerts.test(name, kind)),
      retry: (name) => alerts?.retry(name) ?? 0,
    },
    containerSettings: settings.get,
    doctor: lookAtHost(() => reloader.config()),
    reload,
    views,
    exposition: { invalidate: () => exposition.invalidate(), page: (format) => exposition.page(format), renderings: () => exposition.renderings() },
    live,
    ready,
    dashboardDir: DASHBOARD_DIR,
    runbooksDir: RUNBOOKS_DIR,
    log: logFor('http'),
  })
  const alertsOf = async (of: Config): Promise<Alerts> => {
    const { createAlerts } = await import('../alerts/service.ts')
    return createAlerts({ config: of, url, incident: maintained.view.get, ready: () => ready().ready, firing: maintained.firing, log: logFor('alerts') })
  }
  const parts: readonly ReloadPart[] = [
    { takes: ['log.level', 'log.format'], prepare: (next) => () => logger.configure(next.log) },
    { takes: ['http.token', 'http.allowed_origins', 'http.allowed_hosts'], prepare: (next) => () => server.setAccess(accessOf(next)) },
    {
      takes: ['metrics.dcgm', 'metrics.hostname_label', 'metrics.dcgm_holders', 'metrics.dcgm_identity_labels', 'metrics.hpc_job_mapping_dir'],
      prepare: (next) => () => void (exposition = expositionOf(next)),
    },
    { takes: ['detectors'], prepare: (next) => () => detection.configure(definitionsOf(next), next.detectors.settings) },
    ...sources.flatMap(({ reload: own }) => (own === undefined ? [] : [{ takes: own.takes, prepare: (next: Config) => () => own.apply(next) }])),
    {
      takes: ['alerts.base_url', 'alerts.heartbeat_url', 'alerts.heartbeat_interval', 'notifiers', 'routes'],
      async prepare(next) {
        if (alerts !== undefined) return alerts.prepare(next)
        const made = notifies(next) ? await alertsOf(next) : undefined
        return () => {
          alerts = made
          made?.start(maintained.firing())
        }
      },
    },
  ]
  const reloader: Reloader = createReloader({ initial: config, parts, read, log, onState: reloads.set })
  // The port first: when it is taken, nothing has been touched yet.
  const url = await server.listen()
  if (notifies(config)) alerts = await alertsOf(config)
  diagnosis.restore(incidents.unresolved(), maintenance.accepted())
  alerts?.start(maintained.firing())
  await Promise.all(sources.map(async (source) => source.start({ emit: pipeline.ingest, every: scrapes.every, log: logFor(source.id) })))
  pulls.every(1_000, (t) => {
    latest.expire(t)
    ledger.expire(t)
    refresh()
    pipeline.tick(t)
    history?.maintain(t)
    cursors.maintain(t)
    incidents.maintain(t)
    maintained.maintain(t)
    alerts?.maintain(t)
  })

  started.resolve()

  return {
    url,
    latest,
    reload,
    async stop() {
      await reloader.close()
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
