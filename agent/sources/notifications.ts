// What becomes of notifications, on /metrics: delivered, waiting, given up; so that somebody else hears of it when a receiver does not.
import { defineMetric, type MetricDef } from '../model/metric.ts'
import type { NotificationFigures, NotifierRow } from '../model/notification.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'

export const notificationsTotal = defineMetric({
  name: 'warpwatch_agent_notifications_total',
  kind: 'counter',
  unit: '{notification}',
  help: 'Messages by what became of them: delivered; expired (too old, never delivered); set_aside (the receiver refuses it); failed_try (a try that is made again). Counted over restarts.',
  labels: ['notifier', 'result'],
})
export const notificationsWaiting = defineMetric({
  name: 'warpwatch_agent_notifications_waiting',
  kind: 'gauge',
  unit: '{notification}',
  help: 'What is to be told and has not been delivered yet.',
  labels: ['notifier'],
})
export const notificationsOldest = defineMetric({
  name: 'warpwatch_agent_notifications_oldest_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'For how long the oldest of what waits could have been sent; absent when nothing waits.',
  labels: ['notifier'],
})
export const notificationLastSuccess = defineMetric({
  name: 'warpwatch_agent_notification_last_success_timestamp_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'When a message was last delivered, Unix time; absent before the first.',
  labels: ['notifier'],
  history: false,
})
export const heartbeatsTotal = defineMetric({
  name: 'warpwatch_agent_heartbeats_total',
  kind: 'counter',
  unit: '{heartbeat}',
  help: "Heartbeats (alerts.heartbeat_url, and that of notifiers) since the agent's start, delivered or failed; none is sent while the agent does not sample.",
  labels: ['result'],
})
const metrics: readonly MetricDef[] = [notificationsTotal, notificationsWaiting, notificationsOldest, notificationLastSuccess, heartbeatsTotal]

const EVERY_MS = 5_000

export function createNotificationsSource(figures: () => NotificationFigures | undefined): Source {
  const known = new Map<string, Series>()
  const reading = (metric: MetricDef, labels: Labels, value: number): Reading => {
    const key = `${metric.name} ${labels['notifier'] ?? ''} ${labels['result'] ?? ''}`
    let series = known.get(key)
    if (series === undefined) known.set(key, (series = makeSeries(metric, labels)))
    return { series, value }
  }
  const ofRow = (row: NotifierRow, t: number): readonly Reading[] => {
    const notifier = { notifier: row.name }
    const counted = (result: string, value: number): Reading => reading(notificationsTotal, { ...notifier, result }, value)
    return [
      counted('delivered', row.delivered),
      counted('expired', row.expired),
      counted('set_aside', row.set_aside),
      counted('failed_try', row.failed_tries),
      reading(notificationsWaiting, notifier, row.waiting),
      ...(row.oldest_waiting_at === undefined ? [] : [reading(notificationsOldest, notifier, Math.max(0, t - row.oldest_waiting_at) / 1_000)]),
      ...(row.last_delivered_at === undefined ? [] : [reading(notificationLastSuccess, notifier, row.last_delivered_at / 1_000)]),
    ]
  }
  let said = false
  return {
    id: 'notifications',
    metrics,
    start({ emit, every }) {
      every(EVERY_MS, (t) => {
        const begun = performance.now()
        const found = figures()
        // A reload can bring the first notifier, and take the last.
        if (found === undefined && !said) return
        said = found !== undefined
        const { notifiers, heartbeat }: NotificationFigures = found ?? { notifiers: [] }
        const readings = notifiers.flatMap((row) => ofRow(row, t))
        if (heartbeat !== undefined)
          readings.push(
            reading(heartbeatsTotal, { result: 'delivered' }, heartbeat.delivered),
            reading(heartbeatsTotal, { result: 'failed' }, heartbeat.failed),
          )
        emit({ type: 'scrape', t, source: 'notifications', group: '', ttlMs: 3 * EVERY_MS, durationMs: performance.now() - begun, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const notifications = defineSource({
  id: 'notifications',
  metrics,
  needs: ['notifications'],
  create: ({ notifications: figures }) => createNotificationsSource(figures),
})
