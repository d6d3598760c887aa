// Readings that go through the store and the collector of OTLP, decoded as a receiver would.
import { metricNamed } from '../../../agent/catalogue.ts'
import type { Labels } from '../../../agent/model/series.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { createMetricsCollector, serializeMetrics } from '../../../agent/sinks/otlp/metrics.ts'
import { createResource } from '../../../agent/sinks/otlp/resource.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { decodeMetrics, type SentMetric, type SentMetrics, type SentPoint } from '../../setup/otlp-decode.ts'

export const T0 = 1_763_600_000_000
export const MS = 1_000_000n
const resource = createResource({ hostname: 'gpu-host', procRoot: '/proc', dataDir: '/data', extra: {} })

/** A store of readings and what is collected of it. */
export function host() {
  const latest = createLatestStore()
  const collector = createMetricsCollector(latest, resource)
  return {
    latest,
    scrape: (t: number, readings: readonly (readonly [metric: string, labels: Labels, value: number])[], ttlMs = 5_000, group = ''): void => {
      const made = readings.map(([name, labels, value]) => {
        const metric = metricNamed(name)
        if (metric === undefined) throw new Error(`${name}: expected a metric of the catalogue`)
        return { series: makeSeries(metric, labels), value }
      })
      latest.apply({ type: 'scrape', t, source: 'test', group, ttlMs, durationMs: 0, readings: made, gaps: [] })
    },
    collect: (t: number, delivered = true): SentMetrics => {
      latest.expire(t)
      const collected = collector.collect(t)
      if (delivered) collected.delivered()
      return decodeMetrics(serializeMetrics(collected.resources))
    },
  }
}
export const metricOf = (sent: SentMetrics, name: string): SentMetric | undefined => sent.metrics.find((metric) => metric.name === name)
export const only = (sent: SentMetrics, name: string): SentPoint => {
  const [point, ...others] = metricOf(sent, name)?.points ?? []
  if (point === undefined || others.length > 0) throw new Error(`${name}: expected one point`)
  return point
}
export const ENERGY = 'warpwatch_gpu_energy_joules_total'
export const GPU = { gpu: '0', uuid: 'GPU-1' }
