// All of alerts put together for the agent: router, announcer, outbox, delivery, heartbeats. Loaded only where somebody is to hear of something.
import type { Config } from '../agent/config/schema.ts'
import { proxyRules } from '../agent/lib/proxy.ts'
import type { Incident, IncidentKind, IncidentSummary } from '../agent/model/incident.ts'
import type { NotificationFigures, NotifierRow, NotifierTest, Reach } from '../agent/model/notification.ts'
import type { Log } from '../agent/model/source.ts'
import { createOutbox } from '../agent/store/outbox.ts'
import { createAnnouncer } from './announcer.ts'
import { buildNotifier } from './build.ts'
import { createDelivery } from './delivery/delivery.ts'
import { createHeartbeats } from './heartbeats.ts'
import { outgoing } from './messages/outgoing.ts'
import { createRouter } from './routing/router.ts'
import { sendTest } from './test-message.ts'

export type AlertsOptions = {
  readonly config: Pick<Config, 'alerts' | 'notifiers' | 'routes' | 'data_dir' | 'host_name' | 'http_client'>
  /** Where the agent is reached on its own host. */
  readonly url: string
  /** An incident whole, with what people said of it. */
  readonly incident: (id: string) => Incident | undefined
  /** Whether the agent samples. */
  readonly ready: () => boolean
  readonly log: Log
}
export type Alerts = {
  /** Of each change of an incident; never waits for a receiver. */
  readonly changed: (incident: IncidentSummary) => void
  /** With what fires already: the last agent may have ended before it was announced. */
  readonly start: (firing: readonly IncidentSummary[]) => void
  /** Once a second. */
  readonly maintain: (t: number) => void
  readonly figures: () => NotificationFigures
  readonly rows: () => readonly NotifierRow[]
  readonly test: (name: string, kind?: IncidentKind) => Promise<NotifierTest>
  readonly retry: (name: string) => number
  /** Within two seconds; what was on its way is sent again, with the same key, after the next start. */
  readonly stop: () => Promise<void>
}

type Told = Pick<Alerts, 'changed' | 'start' | 'maintain' | 'rows' | 'retry' | 'stop'>

/** Where nobody is told, and only the heartbeat goes out, there is no outbox. */
const NOBODY: Told = { changed: () => {}, start: () => {}, maintain: () => {}, rows: () => [], retry: () => 0, stop: async () => {} }

export async function createAlerts({ config, url, incident: get, ready, log }: AlertsOptions): Promise<Alerts> {
  const { host_name: host, data_dir: directory, routes } = config
  const { base_url } = config.alerts
  const reach: Reach = { ...(base_url === '' ? {} : { base_url }), local_url: url }
  const proxyFor = proxyRules(config.http_client)
  const notifiers = await Promise.all(config.notifiers.map(buildNotifier))
  const heartbeats = createHeartbeats({ alerts: config.alerts, reach, proxyFor, host, notifiers, ready, log })

  const tellAll = (): Told => {
    const outbox = createOutbox({ directory, log })
    const delivery = createDelivery({ outbox, notifiers, host, reach, proxyFor, log })
    const router = createRouter(
      routes,
      notifiers.map(({ name, notifier: { refreshMs } }) => ({ name, ...(refreshMs === undefined ? {} : { refreshMs }) })),
    )
    const announcer = createAnnouncer({ router, outbox, delivery, get, outgoing })
    return {
      changed: announcer.changed,
      start(firing) {
        announcer.recover(firing)
        delivery.start()
      },
      maintain: announcer.maintain,
      rows: delivery.rows,
      retry: (name) => delivery.retryAside(name) ?? 0,
      async stop() {
        await delivery.stop()
        outbox.close()
      },
    }
  }
  const told = notifiers.length === 0 ? NOBODY : tellAll()
  return {
    ...told,
    maintain(t) {
      told.maintain(t)
      heartbeats.maintain(t)
    },
    figures: () => ({ notifiers: told.rows(), heartbeat: heartbeats.figures() }),
    async test(name, kind = 'cuda_oom') {
      const built = notifiers.find((notifier) => notifier.name === name)
      if (built === undefined) throw new Error(`expected one of ${notifiers.map((notifier) => notifier.name).join(', ')}, came ${name}`)
      return sendTest(built, { host, reach, kind, t: Date.now(), proxyFor })
    },
  }
}
