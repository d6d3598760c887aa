// Building blocks of collectors: a prepared question turned into readings or gaps.
import { SUCCESS, failureOf, isPermanent } from '../../nvml/codes.ts'
import type { FieldQuery, Query } from '../../nvml/device.ts'
import type { MetricDef } from '../../model/metric.ts'
import { makeSeries } from '../../model/series.ts'
import type { Labels } from '../../model/series.ts'
import type { ReadGpu } from '../collector.ts'

/** One number of an answer: `at` is its place in the values, `scale` brings NVML's unit to ours. */
export type Part = { readonly metric: MetricDef; readonly labels: Labels; readonly at?: number; readonly scale?: number }

/** Fractions are divided, not multiplied: 57 / 100 is 0.57 to the last digit, 57 * 0.01 need not be. */
export function convert(value: number, scale: number): number {
  return scale < 1 ? value / Math.round(1 / scale) : value * scale
}

/** Readings of one question; when it fails, a gap for each part. */
export function gauges(query: Query, parts: readonly Part[]): ReadGpu {
  const prepared = parts.map(({ metric, labels, at = 0, scale = 1 }) => ({ metric, labels, at, scale, series: makeSeries(metric, labels) }))
  return (out) => {
    const code = query.ask()
    if (code === SUCCESS) for (const part of prepared) out.reading(part.series, convert(query.values[part.at] ?? Number.NaN, part.scale))
    else for (const part of prepared) out.gap(part.metric, part.labels, failureOf(query.name, code))
  }
}

export const gauge = (query: Query, metric: MetricDef, labels: Labels, scale = 1): ReadGpu => gauges(query, [{ metric, labels, scale }])

/** Readings of one call for many fields; each field that fails is a gap of its own. */
export function fieldGauges(query: FieldQuery, parts: readonly Part[]): ReadGpu {
  const prepared = parts.map(({ metric, labels, at = 0, scale = 1 }) => ({ metric, labels, at, scale, series: makeSeries(metric, labels) }))
  return (out) => {
    const code = query.ask()
    for (const part of prepared) {
      if (code !== SUCCESS) out.gap(part.metric, part.labels, failureOf('nvmlDeviceGetFieldValues', code))
      else if (query.codes[part.at] === SUCCESS) out.reading(part.series, convert(query.values[part.at] ?? Number.NaN, part.scale))
      else out.gap(part.metric, part.labels, query.failure(part.at))
    }
  }
}

/** The first question that this driver knows: a newer function with its older stand-in. Both must give the same values. */
export function firstOf(newer: Query, older: Query): Query {
  let current = newer
  return {
    get name() {
      return current.name
    },
    get values() {
      return current.values
    },
    ask: () => {
      const code = current.ask()
      if (current === newer && isPermanent(code)) {
        const other = older.ask()
        // The newer function's word counts unless the older one really knows better.
        if (!isPermanent(other)) current = older
        return other === SUCCESS || !isPermanent(other) ? other : code
      }
      return code
    },
  }
}

/** Several readers as one. */
export const all = (reads: readonly ReadGpu[]): ReadGpu => {
  return (out, nowMs) => {
    for (const read of reads) read(out, nowMs)
  }
}
