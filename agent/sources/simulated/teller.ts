// Turns names and labels into cached series of the catalogue, and values into readings.
import type { MetricDef } from '../../model/metric.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../../model/series.ts'

/** Appends a reading of one series; does nothing when this version has no such metric. */
export type Tell = (readings: Reading[], value: number) => void

export type Teller = {
  /** `name` without `warpwatch_`. Labels that the metric does not declare are left out. */
  readonly series: (name: string, labels: Labels) => Tell
  /** Names that the catalogue lacks. */
  readonly missing: () => readonly string[]
}

const nothing: Tell = () => {}

export function createTeller(metricNamed: (name: string) => MetricDef | undefined): Teller {
  const missing = new Set<string>()

  const seriesFor = (metric: MetricDef, labels: Labels): Series => {
    const declared: Record<string, string> = {}
    for (const name of metric.labels) {
      const value = labels[name]
      if (value !== undefined && value !== '') declared[name] = value
    }
    return makeSeries(metric, declared)
  }
  return {
    series(name, labels) {
      const metric = metricNamed(`warpwatch_${name}`)
      if (metric === undefined) {
        missing.add(name)
        return nothing
      }
      const series = seriesFor(metric, labels)
      return (readings, value) => readings.push({ series, value })
    },
    missing: () => [...missing].sort(),
  }
}
