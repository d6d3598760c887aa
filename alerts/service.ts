// All of alerts put together for the agent: router, dispatcher, outbox, delivery, heartbeats. Loaded only where someone is to hear of something.
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../agent/config/schema.ts'
import { proxyRules } from '../agent/lib/proxy.ts'
import type { Incident, IncidentSummary } from '../agent/model/incident.ts'
import type { IncidentKind } from '../agent/model/kinds.ts'
import type { NotificationFigures, NotifierRow, NotifierTest, Reach } from '../agent/model/notification.ts'
import type { Run } from '../agent/model/job.ts'
import type { WasteSummary } from '../agent/model/ledger.ts'
import type { Log } from '../agent/model/source.ts'
import { createOutbox, type Outbox } from '../agent/store/outbox.ts'
import { createDispatcher } from './dispatcher.ts'
import { buildNotifier, type BuiltNotifier } from './build.ts'
import { createDelivery, type Delivery } from './delivery/delivery.ts'
import { createFinishedRuns, type FinishedRuns } from './finished-runs.ts'
import { createHeartbeats, type Heartbeats } from './heartbeats.ts'
import { outgoing } from './messages/outgoing.ts'
import { createRouter } from './routing/router.ts'
import { createWasteSummaries } from './waste-summaries.ts'
import { sendTest } from './test-message.ts'

export type AlertsOptions = {
  readonly config: Pick<Config, 'alerts' | 'notifiers' | 'routes' | 'data_dir' | 'host_name' | 'http_client'>
  /** Where the agent is reached on its own host. */
  readonly url: string
  /** An incident whole, with what people said of it. */
  readonly incident: (id: string) => Incident | undefined
  /** Whether the agent samples. */
  readonly ready: () => boolean
  /** What fires now, and what was seen lately. */
  readonly firing: () => readonly IncidentSummary[]
  /** What was held and not used between two times. */
  readonly waste: (from: number, to: number) => WasteSummary
  readonly log: Log
}
export type Alerts = {
  /** Takes each change of an incident; never waits for a receiver. */
  readonly incident: (incident: IncidentSummary) => void
  /** A run has ended, or more is known of how; on disk for whoever is to hear of it when this returns. */
  readonly runEnded: (run: Run) => void
  /** To that notifier too; returns why not. */
  readonly sendRun: (run: Run, notifier: string) => string | undefined
  /** With what fires already: the last agent may have ended before it was announced. */
  readonly start: (firing: readonly IncidentSummary[]) => void
  /** Once a second. */
  readonly tick: (t: number) => void
  readonly figures: () => NotificationFigures
  readonly rows: () => readonly NotifierRow[]
  readonly test: (name: string, kind?: IncidentKind) => Promise<NotifierTest>
  /** Makes notifiers of a new configuration ready; returns what puts them in force. What waits in the outbox stays there. */
  readonly prepare: (next: AlertsOptions['config']) => Promise<() => Promise<void>>
  readonly retry: (name: string) => number
  /** Within two seconds; what was on its way is sent again, with the same key, after the next start. */
  readonly stop: () => Promise<void>
}

type Settings = AlertsOptions['config']
type Notifying = Pick<Alerts, 'incident' | 'start' | 'tick' | 'rows' | 'retry'> & {
  readonly finished: FinishedRuns
  readonly outbox: Outbox | undefined
  readonly delivery: Delivery | undefined
  /** Ends delivery and leaves the outbox open for what follows. */
  readonly pause: () => Promise<void>
}

/** Where nobody is notified, and only the heartbeat goes out, there is no outbox. */
const NOBODY: Notifying = {
  outbox: undefined,
  delivery: undefined,
  finished: { ended: () => {}, send: () => 'the agent has no notifiers' },
  incident: () => {},
  start: () => {},
  tick: () => {},
  rows: () => [],
  retry: () => 0,
  pause: async () => {},
}

export async function createAlerts({ config, url, incident: get, ready, firing, waste, log }: AlertsOptions): Promise<Alerts> {
  const proxyFor = proxyRules(config.http_client)
  const reachOf = ({ alerts: { base_url } }: Settings): Reach => ({ ...(base_url === '' ? {} : { base_url }), local_url: url })
  const build = async (next: Settings): Promise<readonly BuiltNotifier[]> => Promise.all(next.notifiers.map(buildNotifier))
  const heartbeatsOf = (next: Settings, built: readonly BuiltNotifier[]): Heartbeats =>
    createHeartbeats({ alerts: next.alerts, reach: reachOf(next), proxyFor, host: next.host_name, notifiers: built, ready, log })
  /** A delivery of before goes on where there is one: its senders know which receivers are in trouble. */
  const notifyingOf = (next: Settings, built: readonly BuiltNotifier[], outbox: Outbox, kept: Delivery | undefined): Notifying => {
    const delivery = kept ?? createDelivery({ outbox, notifiers: built, host: next.host_name, reach: reachOf(next), proxyFor, log })
    const router = createRouter(
      next.routes,
      built.map(({ name, notifier: { refreshMs } }) => ({ name, ...(refreshMs === undefined ? {} : { refreshMs }) })),
    )
    const dispatcher = createDispatcher({ router, outbox, delivery, get, outgoing })
    const summaries = createWasteSummaries({ routes: next.routes, notifiers: built, outbox, delivery, waste, at: next.alerts.summary_at })
    return {
      outbox,
      delivery,
      finished: createFinishedRuns({ routes: next.routes, notifiers: built, outbox, delivery }),
      incident: dispatcher.changed,
      start(incidents) {
        dispatcher.recover(incidents)
        if (kept === undefined) delivery.start()
      },
      tick(t) {
        dispatcher.maintain(t)
        summaries.tick(t)
      },
      rows: delivery.rows,
      retry: (name) => delivery.retryAside(name) ?? 0,
      pause: async () => delivery.stop(),
    }
  }
  const openOutbox = (next: Settings): Outbox => createOutbox({ directory: next.data_dir, log })

  let settings = config
  let notifiers = await build(config)
  let heartbeats = heartbeatsOf(config, notifiers)
  let reported = notifiers.length === 0 ? NOBODY : notifyingOf(config, notifiers, openOutbox(config), undefined)

  return {
    incident: (incident) => reported.incident(incident),
    runEnded: (run) => reported.finished.ended(run),
    sendRun: (run, notifier) => reported.finished.send(run, notifier),
    start: (incidents) => reported.start(incidents),
    rows: () => reported.rows(),
    retry: (name) => reported.retry(name),
    tick(t) {
      reported.tick(t)
      heartbeats.maintain(t)
    },
    figures: () => ({ notifiers: reported.rows(), heartbeat: heartbeats.figures() }),
    async test(name, kind = 'cuda_oom') {
      const built = notifiers.find((notifier) => notifier.name === name)
      if (built === undefined) throw new Error(`no notifier is called ${name}; there are ${notifiers.map((notifier) => notifier.name).join(', ')}`)
      return sendTest(built, { host: settings.host_name, reach: reachOf(settings), kind, t: Date.now(), proxyFor })
    },
    async prepare(next) {
      // A template that cannot be read is found here, before anything has changed.
      const built = await build(next)
      return async () => {
        const sameReceivers = isDeepStrictEqual(next.notifiers, settings.notifiers) && next.alerts.base_url === settings.alerts.base_url
        if (!sameReceivers || !isDeepStrictEqual(next.alerts, settings.alerts)) heartbeats = heartbeatsOf(next, built)
        const { outbox, delivery } = reported
        // Meanwhile the old dispatcher goes on filling the outbox; what was on its way is sent again with the same key.
        if (!sameReceivers) await reported.pause()
        settings = next
        if (sameReceivers && delivery !== undefined && outbox !== undefined) reported = notifyingOf(next, notifiers, outbox, delivery)
        else if (built.length > 0) reported = notifyingOf(next, built, outbox ?? openOutbox(next), undefined)
        else {
          outbox?.close()
          reported = NOBODY
        }
        if (!sameReceivers) notifiers = built
        reported.start(firing())
      }
    },
    async stop() {
      await reported.pause()
      reported.outbox?.close()
    },
  }
}
