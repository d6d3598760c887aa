// Load averages, from /proc/loadavg.
import { keepOpen } from '../../attribution/small-file.ts'
import { hostLoad1, hostLoad15, hostLoad5 } from '../../metrics/host.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { attempt } from './aspect.ts'

const metrics = [hostLoad1, hostLoad5, hostLoad15]

export function parseLoad(text: string): readonly number[] | undefined {
  const match = /^(\d{1,9}\.\d{1,4}) (\d{1,9}\.\d{1,4}) (\d{1,9}\.\d{1,4}) /.exec(text)
  return match === null ? undefined : match.slice(1, 4).map(Number)
}

export const load: Aspect = {
  id: 'load',
  rate: 'fast',
  metrics,
  create: ({ proc }) => {
    const read = keepOpen(`${proc}/loadavg`)
    const series = metrics.map((metric) => makeSeries(metric, {}))
    return (out) =>
      attempt(out, metrics, () => {
        const loads = parseLoad(read())
        series.forEach((each, index) => {
          const value = loads?.[index]
          if (value === undefined) out.gap(each.metric, {}, 'parse_error', undefined, `${proc}/loadavg: expected three numbers`)
          else out.reading(each, value)
        })
      })
  },
}
