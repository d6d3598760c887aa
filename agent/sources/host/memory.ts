// Memory and swap of the host, from /proc/meminfo, and kills by the kernel's OOM killer, from /proc/vmstat.
import { readSmallFile } from '../../attribution/small-file.ts'
import type { MetricDef } from '../../model/metric.ts'
import { defineMetric } from '../../model/metric.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { attempt, wholeNumber } from './aspect.ts'

const bytes = (name: string, help: string, otel?: string): MetricDef =>
  defineMetric({
    name: `warpwatch_host_${name}_bytes`,
    kind: 'gauge',
    unit: 'By',
    help,
    labels: [],
    ...(otel === undefined ? {} : { otel: [{ name: otel, upDown: true as const }] }),
  })

/** Keys of /proc/meminfo (proc_meminfo(5)) and what they are here. */
const FIELDS: readonly (readonly [key: string, metric: MetricDef])[] = [
  ['MemTotal', bytes('memory_total', 'Memory that the kernel can use.', 'system.memory.limit')],
  ['MemAvailable', bytes('memory_available', 'Memory that new work can get without swapping, as the kernel estimates it.', 'system.memory.linux.available')],
  ['MemFree', bytes('memory_free', 'Memory that nothing uses, not even a cache.')],
  ['Buffers', bytes('memory_buffers', 'Cache of block devices.')],
  ['Cached', bytes('memory_cached', 'Page cache; contains memory_shared, which cannot be dropped.')],
  ['Shmem', bytes('memory_shared', 'Shared memory and tmpfs, /dev/shm included.')],
  ['Slab', bytes('memory_slab', "The kernel's own structures.")],
  ['Dirty', bytes('memory_dirty', 'Written by programs, not yet on disk.')],
  ['SwapTotal', bytes('swap_total', 'Swap space; 0 without any.')],
  ['SwapFree', bytes('swap_free', 'Swap space that is not in use.')],
]

const oomKills = defineMetric({
  name: 'warpwatch_host_oom_kills_total',
  kind: 'counter',
  unit: '{process}',
  help: "Processes killed by the kernel's OOM killer since boot, in containers too.",
  labels: [],
})

/** The value of `Key:   123 kB` in bytes; of a key without a unit as it is. */
export function meminfoValue(text: string, key: string): number | undefined {
  const at = text.startsWith(`${key}:`) ? 0 : text.indexOf(`\n${key}:`) + 1
  if (at === 0 && !text.startsWith(`${key}:`)) return undefined
  const end = text.indexOf('\n', at)
  const [number, unit] = text
    .slice(at + key.length + 1, end < 0 ? undefined : end)
    .trim()
    .split(/\s+/)
  const value = wholeNumber(number)
  return value === undefined ? undefined : unit === 'kB' ? value * 1024 : value
}

export const memory: Aspect = {
  id: 'memory',
  rate: 'fast',
  metrics: FIELDS.map(([, metric]) => metric),
  create: ({ proc }) => {
    const fields = FIELDS.map(([key, metric]) => ({ key, metric, series: makeSeries(metric, {}) }))
    const metrics = FIELDS.map(([, metric]) => metric)
    return (out) =>
      attempt(out, metrics, () => {
        const text = readSmallFile(`${proc}/meminfo`)
        for (const { key, metric, series } of fields) {
          const value = meminfoValue(text, key)
          if (value === undefined) out.gap(metric, {}, 'not_supported', undefined, `${proc}/meminfo has no ${key}`)
          else out.reading(series, value)
        }
      })
  },
}

export const oom: Aspect = {
  id: 'oom',
  rate: 'slow',
  metrics: [oomKills],
  create: ({ proc }) => {
    const series = makeSeries(oomKills, {})
    return (out) =>
      attempt(out, [oomKills], () => {
        // Since Linux 4.13.
        const value = wholeNumber(/^oom_kill (\d+)$/m.exec(readSmallFile(`${proc}/vmstat`))?.[1])
        if (value === undefined) out.gap(oomKills, {}, 'not_supported', undefined, `${proc}/vmstat has no oom_kill`)
        else out.reading(series, value)
      })
  },
}
