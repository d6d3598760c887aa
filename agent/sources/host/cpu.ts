// CPU time by mode, cores and boot time, from /proc/stat (proc_stat(5)).
import { keepOpen } from '../../attribution/small-file.ts'
import { hostBootTimeSeconds, hostCpuCores, hostCpuSecondsTotal } from '../../metrics/host.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { attempt, wholeNumber } from './aspect.ts'

/** In the order of the columns; guest and guest_nice after them are already in user and nice. */
const MODES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const
/** USER_HZ is 100 on every Linux platform of NVIDIA's driver (x86-64, arm64, ppc64le). */
const TICKS_PER_SECOND = 100

export type CpuTimes = { readonly seconds: Readonly<Partial<Record<(typeof MODES)[number], number>>>; readonly cores: number; readonly bootTime?: number }

/** undefined when the text does not begin with the line of all CPUs. */
export function parseStat(text: string): CpuTimes | undefined {
  const end = text.indexOf('\n')
  const [name, ...ticks] = (end < 0 ? text : text.slice(0, end)).split(/\s+/)
  if (name !== 'cpu') return undefined
  const seconds: { [Mode in (typeof MODES)[number]]?: number } = {}
  MODES.forEach((mode, index) => {
    const value = wholeNumber(ticks[index])
    if (value !== undefined) seconds[mode] = value / TICKS_PER_SECOND
  })
  let cores = 0
  for (let at = text.indexOf('\ncpu'); at >= 0; at = text.indexOf('\ncpu', at + 4)) cores++
  const boot = wholeNumber(/^btime (\d+)$/m.exec(text)?.[1])
  return { seconds, cores, ...(boot === undefined ? {} : { bootTime: boot }) }
}

const metrics = [hostCpuSecondsTotal, hostCpuCores, hostBootTimeSeconds]

export const cpu: Aspect = {
  id: 'cpu',
  rate: 'fast',
  metrics,
  create: ({ proc }) => {
    const read = keepOpen(`${proc}/stat`)
    const modes = MODES.map((mode) => ({ mode, series: makeSeries(hostCpuSecondsTotal, { mode }) }))
    const [cores, boot] = [makeSeries(hostCpuCores, {}), makeSeries(hostBootTimeSeconds, {})]
    return (out) =>
      attempt(out, metrics, () => {
        const times = parseStat(read())
        if (times === undefined) {
          for (const metric of metrics) out.gap(metric, {}, 'parse_error', undefined, `${proc}/stat: expected a first line "cpu …"`)
          return
        }
        for (const { mode, series } of modes) {
          const value = times.seconds[mode]
          if (value === undefined) out.gap(hostCpuSecondsTotal, { mode }, 'not_supported', undefined, `${proc}/stat has no column for ${mode}`)
          else out.reading(series, value)
        }
        if (times.cores > 0) out.reading(cores, times.cores)
        if (times.bootTime === undefined) out.gap(hostBootTimeSeconds, {}, 'parse_error', undefined, `${proc}/stat: expected a line "btime N"`)
        else out.reading(boot, times.bootTime)
      })
  },
}
