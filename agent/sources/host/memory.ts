// Memory and swap of the host, from /proc/meminfo, and kills by the kernel's OOM killer, from /proc/vmstat.
import { keepOpen, readSmallFile } from '../../attribution/small-file.ts'
import {
  hostMemoryAvailableBytes,
  hostMemoryBuffersBytes,
  hostMemoryCachedBytes,
  hostMemoryDirtyBytes,
  hostMemoryFreeBytes,
  hostMemorySharedBytes,
  hostMemorySlabBytes,
  hostMemoryTotalBytes,
  hostOomKillsTotal,
  hostSwapFreeBytes,
  hostSwapTotalBytes,
} from '../../metrics/host.ts'
import type { MetricDef } from '../../model/metric.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { attempt, wholeNumber } from './aspect.ts'

/** Keys of /proc/meminfo (proc_meminfo(5)) and what they are here. */
const FIELDS: readonly (readonly [key: string, metric: MetricDef])[] = [
  ['MemTotal', hostMemoryTotalBytes],
  ['MemAvailable', hostMemoryAvailableBytes],
  ['MemFree', hostMemoryFreeBytes],
  ['Buffers', hostMemoryBuffersBytes],
  ['Cached', hostMemoryCachedBytes],
  ['Shmem', hostMemorySharedBytes],
  ['Slab', hostMemorySlabBytes],
  ['Dirty', hostMemoryDirtyBytes],
  ['SwapTotal', hostSwapTotalBytes],
  ['SwapFree', hostSwapFreeBytes],
]

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
    const read = keepOpen(`${proc}/meminfo`)
    const fields = FIELDS.map(([key, metric]) => ({ key, metric, series: makeSeries(metric, {}) }))
    const metrics = FIELDS.map(([, metric]) => metric)
    return (out) =>
      attempt(out, metrics, () => {
        const text = read()
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
  metrics: [hostOomKillsTotal],
  create: ({ proc }) => {
    const series = makeSeries(hostOomKillsTotal, {})
    return (out) =>
      attempt(out, [hostOomKillsTotal], () => {
        // Since Linux 4.13.
        const value = wholeNumber(/^oom_kill (\d+)$/m.exec(readSmallFile(`${proc}/vmstat`))?.[1])
        if (value === undefined) out.gap(hostOomKillsTotal, {}, 'not_supported', undefined, `${proc}/vmstat has no oom_kill`)
        else out.reading(series, value)
      })
  },
}
