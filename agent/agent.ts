// The agent's table of contents: its parts in the order in which they are made, started and stopped. How each is put together is in wiring/.
import { createContainerSettingsBook } from './attribution/container-settings.ts'
import type { ReloaderOptions, ReloadPart } from './config/reload.ts'
import type { Config } from './config/schema.ts'
import type { Logger } from './lib/log.ts'
import { createScheduler, TICK_PHASE_MS } from './lib/scheduler.ts'
import type { ReloadResult } from './model/reload.ts'
import { createPipeline } from './pipeline.ts'
import { createIncidentService } from './store/incident-service.ts'
import type { LatestStore } from './store/latest.ts'
import { createLogTail } from './store/log-tail.ts'
import { createOperator } from './store/operator.ts'
import { createActionsOutput } from './wiring/actions.ts'
import { createAlertsOutput } from './wiring/alerts.ts'
import { createHostDiagnosis } from './wiring/diagnosis.ts'
import { createJobs } from './wiring/jobs.ts'
import { createHosts } from './wiring/hosts.ts'
import { openOutputs } from './wiring/outputs.ts'
import { createHostPace } from './wiring/pace.ts'
import { createPresent } from './wiring/present.ts'
import { createReloads } from './wiring/reloads.ts'
import { createAgentServer } from './wiring/server.ts'
import { createSources } from './wiring/sources.ts'
import { openStores } from './wiring/stores.ts'

export type Agent = {
  readonly url: string
  readonly latest: LatestStore
  /** Reads the configuration again; what can be taken while the agent runs holds from then on. */
  readonly reload: () => Promise<ReloadResult>
  readonly stop: () => Promise<void>
}
export type AgentOptions = { readonly record?: string; readonly logger: Logger; readonly read: ReloaderOptions['read'] }

const logReload = (logger: Logger): ReloadPart => ({ takes: ['log.level', 'log.format'], prepare: (next) => () => logger.configure(next.log) })

export async function startAgent(config: Config, { record, logger, read }: AgentOptions): Promise<Agent> {
  const log = logger.part
  const reloads = createReloads({ config, read, log: log('agent') })
  const present = createPresent(config)
  const stores = openStores(config, log)
  const containerSettings = createContainerSettingsBook()
  const diagnosis = createHostDiagnosis({ config, stores, settingsOf: containerSettings.get, log: log('agent') })
  const actions = createActionsOutput({ config, present, log: log('actions') })
  const incidents = createIncidentService({ store: stores.incidents, maintenance: stores.maintenance, actionsOf: actions.of, figures: diagnosis.figures })
  const alerts = createAlertsOutput({ config, incidents, ready: () => present.ready().ready, waste: (from, to) => jobs.waste(from, to), log: log('alerts') })
  const jobs = createJobs(config, log('jobs'), alerts.runEnded)
  const outputs = await openOutputs({ config, record, present, stores, firing: incidents.firing, jobs: jobs.live, log })
  const pace = createHostPace({
    latest: present.latest,
    live: outputs.live,
    runs: () => jobs.live().length,
    // A simulated host is never empty, and OTLP has an interval of its own.
    always: config.simulate.scenario !== 'off' || outputs.otlp !== undefined,
  })
  const logTail = config.logs.tail ? createLogTail() : undefined
  const pipeline = createPipeline(
    {
      stores: [...present.stores, ...stores.events, ...(logTail === undefined ? [] : [logTail])],
      diagnosis,
      incidents,
      outputs: { events: [jobs, ...outputs.events, pace], incidents: [jobs, ...outputs.incidents, alerts, actions] },
      ticks: [present, ...outputs.ticks, ...stores.ticks, jobs, alerts, actions, pace],
    },
    log('agent'),
  )
  const hosts = createHosts({ config, present, firing: incidents.firing, jobs: jobs.live })
  const operator = createOperator({ incidents, maintenance: stores.maintenance, pipeline })
  const sources = createSources({
    config,
    present,
    stores,
    outputs,
    pipeline,
    incidents,
    jobs: jobs.interest,
    alerts,
    reloads,
    containerSettings,
    showLine: logTail?.line,
    hangEvidence: hosts.hangEvidence,
  })
  const server = createAgentServer({
    config,
    present,
    stores,
    incidents,
    operator,
    jobs,
    pipeline,
    alerts,
    containerSettings,
    logTail: logTail?.read,
    live: pace.live,
    hosts,
    reloads,
    log: log('http'),
  })
  reloads.takenBy([logReload(logger), server.reload, present.reload, diagnosis.reload, ...sources.reloads, alerts.reload])
  const scrapes = createScheduler(log('agent'), 0, pace)
  const ticks = createScheduler(log('agent'), TICK_PHASE_MS, pace)

  // The port first: when it is taken, nothing has been touched yet.
  const url = await server.listen()
  await alerts.open(url)
  diagnosis.restore()
  jobs.restore()
  alerts.start()
  actions.start(incidents.firing(), jobs.interest)
  await sources.start({ emit: (event) => pipeline.ingest(pace.lasting(event)), every: scrapes.every, log })
  ticks.every(1_000, pipeline.tick)
  ticks.every(1_000, operator.tick)
  reloads.allow()

  return {
    url,
    latest: present.latest,
    reload: reloads.reload,
    async stop() {
      await reloads.close()
      scrapes.stop()
      ticks.stop()
      hosts.close()
      await server.close()
      await sources.stop()
      stores.cursors.close()
      await outputs.close()
      pipeline.flush()
      // What the last events said is in its outbox now; the store is asked until the last message is put together.
      await alerts.stop()
      await actions.stop()
      jobs.close()
      stores.close()
    },
  }
}
