// Load averages, from /proc/loadavg.
import { readSmallFile } from '../../attribution/small-file.ts'
import { defineMetric } from '../../model/metric.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { attempt } from './aspect.ts'

const metrics = ([1, 5, 15] as const).map((minutes) =>
  defineMetric({
    name: `warpwatch_host_load${minutes}`,
    kind: 'gauge',
    unit: '{thread}',
    help: `Threads that run or wait for CPU or disk, averaged over ${minutes} min.`,
    labels: [],
  }),
)

export function parseLoad(text: string): readonly number[] | undefined {
  const match = /^(\d{1,9}\.\d{1,4}) (\d{1,9}\.\d{1,4}) (\d{1,9}\.\d{1,4}) /.exec(text)
  return match === null ? undefined : match.slice(1, 4).map(Number)
}

export const load: Aspect = {
  id: 'load',
  rate: 'fast',
  metrics,
  create: ({ proc }) => {
    const series = metrics.map((metric) => makeSeries(metric, {}))
    return (out) =>
      attempt(out, metrics, () => {
        const loads = parseLoad(readSmallFile(`${proc}/loadavg`))
        series.forEach((each, index) => {
          const value = loads?.[index]
          if (value === undefined) out.gap(each.metric, {}, 'parse_error', undefined, `${proc}/loadavg: expected three numbers`)
          else out.reading(each, value)
        })
      })
  },
}
