// The HTTP server with everything that it serves: pages, API, live stream, dashboard, runbooks and the doctor.
import { join } from 'node:path'
import type { ContainerSettingsBook } from '../attribution/container-settings.ts'
import type { ReloadPart } from '../config/reload.ts'
import type { Config } from '../config/schema.ts'
import { incidentReport } from '../diagnosis/incidents/report.ts'
import { accessOf } from '../http/auth.ts'
import type { McpHandler } from '../http/app.ts'
import type { LogTailOf } from '../http/api/log-tail.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import type { DoctorReport } from '../model/doctor.ts'
import type { ExecEvent } from '../model/event.ts'
import type { Run } from '../model/job.ts'
import type { Log } from '../model/source.ts'
import type { LiveSink } from '../sinks/live.ts'
import type { IncidentService } from '../store/incident-service.ts'
import type { Operator } from '../store/operator.ts'
import type { AlertsOutput } from './alerts.ts'
import type { Pipeline } from '../pipeline.ts'
import { jobIdOf } from '../jobs/identity.ts'
import { runLine } from '../jobs/line.ts'
import { jobReport } from '../jobs/report.ts'
import type { Hosts } from './hosts.ts'
import type { Jobs } from './jobs.ts'
import type { Present } from './present.ts'
import type { Reloads } from './reloads.ts'
import type { Stores } from './stores.ts'

export type AgentServerOptions = {
  readonly config: Config
  readonly present: Present
  readonly stores: Pick<Stores, 'history'>
  readonly incidents: IncidentService
  readonly operator: Operator
  readonly jobs: Pick<Jobs, 'view' | 'ofExec' | 'waste'>
  readonly pipeline: Pick<Pipeline, 'ingest'>
  readonly alerts: Pick<AlertsOutput, 'api' | 'sendRun'>
  readonly containerSettings: ContainerSettingsBook
  /** undefined: no lines are kept. */
  readonly logTail: LogTailOf | undefined
  readonly live: LiveSink
  readonly hosts: Pick<Hosts, 'api' | 'relay' | 'link'>
  readonly reloads: Reloads
  readonly log: Log
}
export type AgentServer = Pick<HttpServer, 'listen' | 'close'> & { readonly reload: ReloadPart }

/** In the build all files are in one folder; in a checkout the dashboard is built and the runbooks are in the source tree. */
const built = !import.meta.url.endsWith('.ts')
const here = import.meta.dirname
const DASHBOARD_DIR = join(here, built ? 'dashboard' : '../../dist/dashboard')
const RUNBOOKS_DIR = join(here, built ? 'runbooks' : '../../alerts/runbooks')

/** Loaded when someone asks; made again after a reload. */
function createDoctorView(inForce: () => Config): () => Promise<DoctorReport> {
  let doctor: Promise<() => Promise<DoctorReport>> | undefined
  let of: Config | undefined
  return async () => {
    const config = inForce()
    if (of !== config) doctor = undefined
    of = config
    doctor ??= import('../doctor/service.ts').then(({ createDoctor }) => createDoctor(config))
    const look = await doctor
    return look()
  }
}

/** Loaded with the first question. */
const mcp: McpHandler = async (request, body, ask) => (await import('../mcp/http.ts')).answerMcp(request, body, ask)

/** Throws when the configuration would open the port to other hosts without a token. */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const { config, present, stores, incidents, operator, jobs, pipeline, alerts, containerSettings, logTail, live, hosts, reloads, log } = options
  const recordExec = (event: ExecEvent): Run | undefined => {
    pipeline.ingest(event)
    return jobs.ofExec(event.id)
  }
  const server = createHttpServer({
    ...accessOf(config),
    history: stores.history,
    incidents: { incidents: incidents.view, report: (incident) => incidentReport(incident, config.host_name) },
    jobs: {
      view: jobs.view,
      waste: jobs.waste,
      report: (runs) => jobReport(runs, config.host_name, Date.now()),
      line: runLine,
      idOf: jobIdOf,
      record: recordExec,
      send: alerts.sendRun,
    },
    maintenance: operator,
    notifiers: alerts.api,
    containerSettings: containerSettings.get,
    logTail,
    doctor: createDoctorView(reloads.config),
    reload: reloads.reload,
    views: present.views,
    exposition: present.exposition,
    live,
    ready: present.ready,
    dashboardDir: DASHBOARD_DIR,
    runbooksDir: RUNBOOKS_DIR,
    mcp,
    hosts: hosts.api,
    relay: (name, request, socket, head, access) => hosts.relay.upgrade(request, socket, head, access, hosts.link(name)),
    log,
  })
  return {
    listen: server.listen,
    close: server.close,
    reload: {
      takes: ['http.token', 'http.allowed_origins', 'http.allowed_hosts'],
      prepare: (next) => () => server.setAccess(accessOf(next)),
    },
  }
}
