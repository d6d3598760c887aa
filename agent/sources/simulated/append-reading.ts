// Turns metrics and labels into cached series, and values into readings.
import type { MetricDef } from '../../model/metric.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries, type Labels } from '../../model/series.ts'

/** Appends a reading of one series. */
export type Append = (readings: Reading[], value: number) => void

/** Labels that the metric does not declare, and empty ones, are left out. */
export function appendTo(metric: MetricDef, labels: Labels): Append {
  const declared: Record<string, string> = {}
  for (const name of metric.labels) {
    const value = labels[name]
    if (value !== undefined && value !== '') declared[name] = value
  }
  const series = makeSeries(metric, declared)
  return (readings, value) => readings.push({ series, value })
}
