// Alerts as an output: loaded once someone is to be notified, at the start or by a reload; until then nothing of them runs and nothing is written.
import type { Alerts } from '../../alerts/service.ts'
import type { ReloadPart } from '../config/reload.ts'
import type { Config } from '../config/schema.ts'
import type { NotifierApi } from '../http/api/notifiers.ts'
import type { Run } from '../model/job.ts'
import type { WasteSummary } from '../model/ledger.ts'
import type { NotificationFigures } from '../model/notification.ts'
import type { TakesIncidents, TakesTicks } from '../model/sink.ts'
import type { Log } from '../model/source.ts'
import type { IncidentService } from '../store/incident-service.ts'

export type AlertsOutputOptions = {
  readonly config: Config
  readonly incidents: Pick<IncidentService, 'view' | 'firing'>
  /** Whether the agent samples. */
  readonly ready: () => boolean
  /** What was held and not used between two times. */
  readonly waste: (from: number, to: number) => WasteSummary
  readonly log: Log
}
export type AlertsOutput = TakesIncidents &
  TakesTicks & {
    /** Opens the outbox. `url`: where the agent is reached on its own host. Throws when a notifier cannot be built. */
    readonly open: (url: string) => Promise<void>
    /** Begins to send; first of what fires already, as the last agent may have ended before it said so. */
    readonly start: () => void
    /** A run has ended, or more is known of how. On disk when this returns, for whoever is to hear of it. */
    readonly runEnded: (run: Run) => void
    /** To that notifier too; returns why not. */
    readonly sendRun: (run: Run, notifier: string) => string | undefined
    /** undefined: nobody is notified. */
    readonly figures: () => NotificationFigures | undefined
    readonly api: NotifierApi
    readonly reload: ReloadPart
    readonly stop: () => Promise<void>
  }

const notifies = ({ notifiers, alerts }: Config): boolean => notifiers.length > 0 || alerts.heartbeat_url !== ''

export function createAlertsOutput({ config, incidents, ready, waste, log }: AlertsOutputOptions): AlertsOutput {
  let alerts: Alerts | undefined
  let url = ''
  const load = async (of: Config): Promise<Alerts> => {
    const { createAlerts } = await import('../../alerts/service.ts')
    return createAlerts({ config: of, url, incident: incidents.view.get, ready, firing: incidents.firing, waste, log })
  }
  return {
    name: 'alerts',
    incident: (incident) => alerts?.incident(incident),
    tick: (t) => alerts?.tick(t),
    runEnded: (run) => alerts?.runEnded(run),
    sendRun: (run, notifier) => (alerts === undefined ? 'the agent has no notifiers' : alerts.sendRun(run, notifier)),
    async open(at) {
      url = at
      if (notifies(config)) alerts = await load(config)
    },
    start: () => alerts?.start(incidents.firing()),
    figures: () => alerts?.figures(),
    api: {
      rows: () => alerts?.rows() ?? [],
      test: (name, kind) => (alerts === undefined ? Promise.reject(new Error('alerts have not been started')) : alerts.test(name, kind)),
      retry: (name) => alerts?.retry(name) ?? 0,
    },
    reload: {
      takes: ['alerts.base_url', 'alerts.heartbeat_url', 'alerts.heartbeat_interval', 'alerts.summary_at', 'notifiers', 'routes'],
      async prepare(next) {
        if (alerts !== undefined) return alerts.prepare(next)
        const made = notifies(next) ? await load(next) : undefined
        return () => {
          alerts = made
          made?.start(incidents.firing())
        }
      },
    },
    async stop() {
      const stopping = alerts
      // What comes after this is for the next agent.
      alerts = undefined
      await stopping?.stop()
    },
  }
}
