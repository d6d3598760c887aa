// Numbers for series, so that a sample carries numbers instead of names and labels.
import type { Labels, Series } from '../../model/series.ts'

export type SeriesIds = {
  readonly of: (series: Series) => number
  /** Those that got a number since the last call, for the parent; undefined when there are none. */
  readonly fresh: () => readonly (readonly [id: number, metric: string, labels: Labels])[] | undefined
}

/** A number belongs to a key for the life of the process: a GPU that is attached again goes on with its numbers. */
export function createSeriesIds(): SeriesIds {
  const byKey = new Map<string, number>()
  const bySeries = new WeakMap<Series, number>()
  let fresh: [number, string, Labels][] = []
  return {
    of(series) {
      const known = bySeries.get(series)
      if (known !== undefined) return known
      let id = byKey.get(series.key)
      if (id === undefined) {
        id = byKey.size
        byKey.set(series.key, id)
        fresh.push([id, series.metric.name, series.labels])
      }
      bySeries.set(series, id)
      return id
    },
    fresh() {
      if (fresh.length === 0) return undefined
      const list = fresh
      fresh = []
      return list
    },
  }
}
