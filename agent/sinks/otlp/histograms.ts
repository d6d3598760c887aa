// Histograms as OTLP metrics: the readings of one histogram, a bucket each, become one point.
import { ValueType } from '@opentelemetry/api'
import { AggregationTemporality, DataPointType, type DataPoint, type Histogram as Point, type MetricData } from '@opentelemetry/sdk-metrics'
import { histogramOfReadings } from '../../model/histogram.ts'
import type { Reading } from '../../model/reading.ts'
import { labelPairs } from '../../model/series.ts'
import type { AttributeBook } from './attributes.ts'
import { hrTime } from './hr-time.ts'
import { otlpNameOf, type OtlpName } from './names.ts'
import type { Starts } from './starts.ts'

export const isOfHistogram = ({ series }: Reading): boolean => series.metric.kind === 'histogram'

export function histogramMetrics(readings: readonly Reading[], t: number, book: AttributeBook, starts: Starts): readonly MetricData[] {
  const families = new Map<string, { readonly name: OtlpName; readonly points: DataPoint<Point>[] }>()
  const histograms = Map.groupBy(readings, ({ series: { metric, labels } }) => `${metric.name} ${labelPairs(metric.labels, { ...labels, le: '' })}`)
  for (const [key, parts] of histograms) {
    const histogram = histogramOfReadings(parts)
    const [first] = parts
    if (histogram === undefined || first === undefined) continue
    const { metric, labels } = first.series
    const name = otlpNameOf(metric, labels)
    let family = families.get(name.name)
    if (family === undefined) families.set(name.name, (family = { name, points: [] }))
    const { bounds, counts, sum } = histogram
    const count = counts.at(-1) ?? 0
    family.points.push({
      attributes: book.of({ ...labels, le: '' }, name),
      startTime: hrTime(starts.of(key, count, true)),
      endTime: hrTime(t),
      // The last bound is infinite, and goes without saying.
      value: {
        buckets: { boundaries: bounds.slice(0, -1), counts: counts.map((each, at) => each - (counts[at - 1] ?? 0)) },
        count,
        ...(sum === undefined ? {} : { sum }),
      },
    })
  }
  return Array.from(families.values(), ({ name, points }) => ({
    descriptor: { name: name.name, description: name.description, unit: name.unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: points,
  }))
}
