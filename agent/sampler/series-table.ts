// Series that a child announced by number, made once each: a sample then costs no label work.
import type { MetricDef } from '../model/metric.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import { messageOf } from '../text/error.ts'
import type { SeriesAnnouncement } from './protocol.ts'

/** Far above eight GPUs with seven MIG instances each; when GPUs are repartitioned again and again the interned ones are let go. */
const MAX_INTERNED = 50_000

export type SeriesInterner = { readonly intern: (metric: string, labels: Labels) => Series }

/** Gives the same object for the same series over the lives of all children, so that stores may key on it. Throws on an undeclared metric or label. */
export function createSeriesInterner(metrics: readonly MetricDef[]): SeriesInterner {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]))
  const interned = new Map<string, Series>()
  return {
    intern(name, labels) {
      const metric = byName.get(name)
      if (metric === undefined) throw new Error(`it announced an undeclared metric, ${name.slice(0, 80)}`)
      const series = makeSeries(metric, labels)
      const known = interned.get(series.key)
      if (known !== undefined) return known
      if (interned.size >= MAX_INTERNED) interned.clear()
      interned.set(series.key, series)
      return series
    },
  }
}

export type SeriesTable = {
  readonly announce: (entries: SeriesAnnouncement['series']) => void
  /** Readings of a sample; one that has not changed is the same object again. What was never announced or is not finite is left out. */
  readonly resolve: (ids: readonly number[], values: readonly unknown[]) => Reading[]
}

/** The numbers of one child's life; `complain` hears of each thing that does not fit. */
export function createSeriesTable(interner: SeriesInterner, complain: (problem: string) => void): SeriesTable {
  const series: (Series | undefined)[] = []
  const last: (Reading | undefined)[] = []
  return {
    announce(entries) {
      for (const [id, metric, labels] of entries) {
        try {
          series[id] = interner.intern(metric, labels)
          last[id] = undefined
        } catch (error) {
          complain(messageOf(error))
        }
      }
    },
    resolve(ids, values) {
      const readings: Reading[] = []
      for (let i = 0; i < ids.length; i++) {
        const id = ids[i] ?? -1
        const value = values[i]
        const of = series[id]
        if (of === undefined) complain(`it sent a value of series ${id}, which it never announced`)
        else if (typeof value !== 'number' || !Number.isFinite(value)) complain(`it sent no finite number for ${of.key} but ${String(value)}`)
        else {
          let reading = last[id]
          if (reading?.value !== value) last[id] = reading = { series: of, value }
          readings.push(reading)
        }
      }
      return readings
    },
  }
}
