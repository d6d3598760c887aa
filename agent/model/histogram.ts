// A histogram as readings, one for each bucket, one for the count and one for the sum; and back from them.
import type { MetricDef } from './metric.ts'
import type { Reading } from './reading.ts'
import { COUNT, makeSeries, SUM, type Labels, type Series } from './series.ts'

/** Cumulative counts by upper bound, the last one Infinity. */
export type Histogram = {
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  /** Of all values; absent where it is not known. */
  readonly sum?: number
}

/** As OpenMetrics writes bounds: `1.0`, `0.25`, `+Inf`. */
export const boundText = (bound: number): string => (bound === Infinity ? '+Inf' : Number.isInteger(bound) && bound < 1e15 ? bound.toFixed(1) : String(bound))

/** `seriesOf` may give series that it made before. */
export function histogramReadings(
  metric: MetricDef,
  labels: Labels,
  { bounds, counts, sum }: Histogram,
  seriesOf: (metric: MetricDef, labels: Labels, more: Labels) => Series = (one, all, more) => makeSeries(one, { ...all, ...more }),
): readonly Reading[] {
  const readingOf = (le: string, value: number): Reading => ({ series: seriesOf(metric, labels, { le }), value })
  return [
    ...bounds.map((bound, at) => readingOf(boundText(bound), counts[at] ?? 0)),
    readingOf(COUNT, counts.at(-1) ?? 0),
    ...(sum === undefined ? [] : [readingOf(SUM, sum)]),
  ]
}

/** Out of readings of one histogram; undefined when its last bucket is not among them. */
export function histogramOfReadings(readings: readonly Reading[]): Histogram | undefined {
  const leOf = ({ labels }: Series): string => labels['le'] ?? ''
  const sum = readings.find(({ series }) => leOf(series) === SUM)?.value
  const buckets = readings
    .filter(({ series }) => leOf(series) !== SUM && leOf(series) !== COUNT)
    .map(({ series, value }) => ({ bound: leOf(series) === '+Inf' ? Infinity : Number(leOf(series)), value }))
    .toSorted((a, b) => a.bound - b.bound)
  if (buckets.at(-1)?.bound !== Infinity) return undefined
  return { bounds: buckets.map(({ bound }) => bound), counts: buckets.map(({ value }) => value), ...(sum === undefined ? {} : { sum }) }
}
