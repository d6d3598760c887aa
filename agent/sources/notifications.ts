// What becomes of notifications, on /metrics: delivered, waiting, given up; so that someone else hears of it when a receiver does not.
import {
  agentHeartbeatsTotal,
  agentNotificationLastSuccessTimestampSeconds,
  agentNotificationsOldestSeconds,
  agentNotificationsTotal,
  agentNotificationsWaiting,
} from '../metrics/agent-delivery.ts'
import { type MetricDef } from '../model/metric.ts'
import type { NotificationFigures, NotifierRow } from '../model/notification.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'

const metrics: readonly MetricDef[] = [
  agentNotificationsTotal,
  agentNotificationsWaiting,
  agentNotificationsOldestSeconds,
  agentNotificationLastSuccessTimestampSeconds,
  agentHeartbeatsTotal,
]

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
    const counted = (result: string, value: number): Reading => reading(agentNotificationsTotal, { ...notifier, result }, value)
    return [
      counted('delivered', row.delivered),
      counted('expired', row.expired),
      counted('set_aside', row.set_aside),
      counted('failed_try', row.failed_tries),
      reading(agentNotificationsWaiting, notifier, row.waiting),
      ...(row.oldest_waiting_at === undefined ? [] : [reading(agentNotificationsOldestSeconds, notifier, Math.max(0, t - row.oldest_waiting_at) / 1_000)]),
      ...(row.last_delivered_at === undefined ? [] : [reading(agentNotificationLastSuccessTimestampSeconds, notifier, row.last_delivered_at / 1_000)]),
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
            reading(agentHeartbeatsTotal, { result: 'delivered' }, heartbeat.delivered),
            reading(agentHeartbeatsTotal, { result: 'failed' }, heartbeat.failed),
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
