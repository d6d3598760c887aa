// Which series of an incident's evidence are kept where there are more than fit: whole metrics, the most telling first. A metric of which some GPUs or processes
// were missing would be summed up and compared as if it were all. Pure.
import { containerGpuMemoryBytes, containerMemoryBytes, containerMemoryLimitBytes, containerOomKillsTotal } from '../../metrics/container.ts'
import { gpuClockHertz } from '../../metrics/gpu-clocks.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuTemperatureCelsius } from '../../metrics/gpu-temperature.ts'
import { hostMemoryAvailableBytes } from '../../metrics/host.ts'
import { allocatorAllocatedBytes, allocatorReservedBytes, processGpuMemoryBytes } from '../../metrics/process.ts'
import type { IncidentSeries } from '../../model/incident.ts'

/** What belongs together is kept or left out together; after these all others, each by itself. */
const FIRST: readonly (readonly string[])[] = [
  [gpuMemoryUsedBytes.name],
  [containerMemoryBytes.name, containerMemoryLimitBytes.name],
  [containerOomKillsTotal.name],
  [hostMemoryAvailableBytes.name],
  [containerGpuMemoryBytes.name],
  [processGpuMemoryBytes.name],
  [allocatorReservedBytes.name, allocatorAllocatedBytes.name],
  [gpuUtilizationRatio.name],
  [gpuPowerWatts.name],
  [gpuTemperatureCelsius.name],
  [`${gpuClockHertz.name} sm`],
]

const keyOf = ({ metric, labels }: IncidentSeries): string => (metric === gpuClockHertz.name ? `${metric} ${labels['domain'] ?? ''}` : metric)

export function wholeMetrics(series: readonly IncidentSeries[], most: number): readonly IncidentSeries[] {
  if (series.length <= most) return series
  const keys = new Set(series.map(keyOf))
  const known = new Set(FIRST.flat())
  const kept = new Set<string>()
  let left = most
  for (const group of [...FIRST, ...[...keys].filter((key) => !known.has(key)).map((key) => [key])]) {
    const size = series.filter((one) => group.includes(keyOf(one))).length
    if (size > left) continue
    left -= size
    for (const key of group) kept.add(key)
  }
  const whole = series.filter((one) => kept.has(keyOf(one)))
  // One metric alone may be more than fits, as of a host with a crowd of processes.
  return whole.length > 0 ? whole : series.slice(0, most)
}
