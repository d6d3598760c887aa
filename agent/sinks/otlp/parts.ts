// Sums whose parts are known: `container.cpu.time` by cpu.mode is sent in place of the total, for a store that adds up a metric's points would count both.
import type { Reading } from '../../model/reading.ts'
import { makeSeries, type Series } from '../../model/series.ts'

const cache = new WeakMap<Series, string>()

/** The key of the series that this one is a part of. */
function wholeOf(series: Series): string | undefined {
  const { metric, labels } = series
  const convention = metric.otel?.find(({ partsOf }) => partsOf !== undefined)
  if (convention?.partsOf === undefined) return undefined
  let key = cache.get(series)
  if (key === undefined) {
    const { partsOf, labels: dimensions = {} } = convention
    key = makeSeries(partsOf, Object.fromEntries(Object.entries(labels).filter(([label]) => dimensions[label] === undefined))).key
    cache.set(series, key)
  }
  return key
}

/** Keys of the series that are left out, since their parts are among the readings. */
export const wholesOf = (readings: readonly Reading[]): ReadonlySet<string> =>
  new Set(readings.map(({ series }) => wholeOf(series)).filter((key) => key !== undefined))
