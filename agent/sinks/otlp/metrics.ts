// The present as OTLP metrics: what /metrics would show at this moment, and nothing that is not read any more.
// Made from the latest values, not by the SDK's instruments: those keep on sending a series that has ended.
import { ValueType } from '@opentelemetry/api'
import { AggregationTemporality, DataPointType, type DataPoint, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import type { Reading } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import type { LatestStore } from '../../store/latest.ts'
import { createAttributeBook } from './attributes.ts'
import { containerOf, containerResource, withoutIdentity } from './container-resources.ts'
import { histogramMetrics, isOfHistogram } from './histograms.ts'
import { hrTime } from './hr-time.ts'
import { otlpNameOf, type OtlpName } from './names.ts'
import { SCOPE, type Resource } from './resource.ts'
import { wholesOf } from './parts.ts'
import { createStarts } from './starts.ts'

export type MetricsCollection = {
  /** The agent's own first, then one for each container. */
  readonly resources: readonly ResourceMetrics[]
  readonly points: number
  /** The receiver has it: what follows goes on from here. */
  readonly delivered: () => void
}
export type MetricsCollector = { readonly collect: (t: number) => MetricsCollection }

/** Requests that follow one another are one request: their lists of resources are joined (protobuf, "Last One Wins"; repeated fields are appended). */
export const serializeMetrics = (resources: readonly ResourceMetrics[]): Uint8Array =>
  Buffer.concat(resources.map((resource) => ProtobufMetricsSerializer.serializeRequest(resource) ?? new Uint8Array()))

type Families = Map<string, Family>
type Family = { readonly name: OtlpName; readonly points: DataPoint<number>[] }

/** Bytes and counts are whole; should one not be, none of its metric is sent as an integer in this export, whichever its resource (`broken`: their names). */
const isWhole = ({ unit }: OtlpName): boolean => unit === 'By' || unit.startsWith('{')

function metricOf({ name, points }: Family, broken: ReadonlySet<string>): MetricData {
  const valueType = isWhole(name) && !broken.has(name.name) ? ValueType.INT : ValueType.DOUBLE
  const descriptor = { name: name.name, description: name.description, unit: name.unit, valueType }
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE, dataPoints: points }
  if (name.instrument === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE }
  return { ...common, dataPointType: DataPointType.SUM, isMonotonic: name.instrument === 'counter' }
}

export function createMetricsCollector(latest: Pick<LatestStore, 'groups' | 'inventory'>, resource: Resource): MetricsCollector {
  const book = createAttributeBook(latest.inventory)
  const starts = createStarts()

  /** Of two readings of one series the newer one counts, and of equally old ones the later, as on /metrics. */
  const present = (): readonly Reading[] => {
    const newest = new Map<string, { readonly reading: Reading; readonly t: number }>()
    for (const { t, readings } of latest.groups())
      for (const reading of readings) {
        if (!Number.isFinite(reading.value)) continue
        const known = newest.get(reading.series.key)
        if (known === undefined || t >= known.t) newest.set(reading.series.key, { reading, t })
      }
    return Array.from(newest.values(), ({ reading }) => reading)
  }

  return {
    collect(t) {
      starts.begin(t)
      const own: Families = new Map()
      const containers = new Map<string, { readonly families: Families; readonly labels: Labels[] }>()
      const containerFor = (id: string, labels: Labels): Families => {
        let found = containers.get(id)
        if (found === undefined) containers.set(id, (found = { families: new Map(), labels: [] }))
        found.labels.push(labels)
        return found.families
      }
      const broken = new Set<string>()
      let points = 0
      const all = present()
      const readings = all.filter((reading) => !isOfHistogram(reading))
      const wholes = wholesOf(readings)
      for (const { series, value } of readings) {
        if (wholes.has(series.key)) continue
        const name = otlpNameOf(series.metric, series.labels)
        if (!Number.isSafeInteger(value)) broken.add(name.name)
        const container = containerOf(series)
        const families = container === undefined ? own : containerFor(container, series.labels)
        let family = families.get(name.name)
        if (family === undefined) families.set(name.name, (family = { name, points: [] }))
        const start = name.instrument === 'gauge' ? 0 : starts.of(series.key, value, name.instrument === 'counter')
        // A reading holds until it is replaced or its time is up, so its time is now.
        family.points.push({
          attributes: book.of(container === undefined ? series.labels : withoutIdentity(series.labels), name),
          startTime: hrTime(start),
          endTime: hrTime(t),
          value,
        })
        points += 1
      }
      const histograms = histogramMetrics(all.filter(isOfHistogram), t, book, starts)
      points += histograms.reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
      const metricsOf = (about: Resource, families: Families, more: readonly MetricData[] = []): ResourceMetrics => ({
        resource: about,
        scopeMetrics: [{ scope: SCOPE, metrics: [...Array.from(families.values(), (family) => metricOf(family, broken)), ...more] }],
      })
      const measured = Array.from(containers.values(), ({ families, labels }) => metricsOf(containerResource(resource, labels), families))
      return { resources: [metricsOf(resource, own, histograms), ...measured], points, delivered: starts.delivered }
    },
  }
}
