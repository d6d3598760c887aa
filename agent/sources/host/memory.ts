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

/** A folder in sysfs that lists NUMA nodes as `0,2-3`. */
function nodesIn(path: string): readonly number[] {
  try {
    return readSmallFile(path)
      .trim()
      .split(',')
      .flatMap((part) => {
        const [from, to = from] = part.split('-').map(Number)
        return from === undefined || to === undefined || !(to - from < 4_096) ? [] : Array.from({ length: to - from + 1 }, (_, at) => from + at)
      })
  } catch {
    return []
  }
}

/**
 * Memory of GPUs that the kernel has as nodes without CPUs (Grace Hopper, POWER9): /proc/meminfo counts it, and it is none of the host's. Of each key what
 * those nodes have of it, in the words of nodeN/meminfo.
 */
export function gpuNodeBytes(sys: string): ((key: string) => number) | undefined {
  const root = `${sys}/devices/system/node`
  const withCpus = new Set(nodesIn(`${root}/has_cpu`))
  const others = withCpus.size === 0 ? [] : nodesIn(`${root}/has_memory`).filter((node) => !withCpus.has(node))
  if (others.length === 0) return undefined
  return (key) =>
    others.reduce((sum, node) => {
      try {
        const kibibytes = new RegExp(`^Node ${node} ${key}:\\s+(\\d{1,15}) kB$`, 'm').exec(readSmallFile(`${root}/node${node}/meminfo`))?.[1]
        return sum + Number(kibibytes ?? 0) * 1024
      } catch {
        return sum
      }
    }, 0)
}

/** What such nodes have of a line of /proc/meminfo; the rest is not told by node, or is host memory everywhere. */
const ON_NODES: Readonly<Record<string, readonly string[]>> = {
  MemTotal: ['MemTotal'],
  MemFree: ['MemFree'],
  MemAvailable: ['MemFree', 'FilePages'],
  Cached: ['FilePages'],
}

export const memory: Aspect = {
  id: 'memory',
  rate: 'fast',
  metrics: FIELDS.map(([, metric]) => metric),
  create: ({ proc, sys }) => {
    const read = keepOpen(`${proc}/meminfo`)
    const onGpus = gpuNodeBytes(sys)
    const fields = FIELDS.map(([key, metric]) => ({ key, metric, series: makeSeries(metric, {}) }))
    const metrics = FIELDS.map(([, metric]) => metric)
    return (out) =>
      attempt(out, metrics, () => {
        const text = read()
        for (const { key, metric, series } of fields) {
          const value = meminfoValue(text, key)
          if (value === undefined) out.gap(metric, {}, 'not_supported', undefined, `${proc}/meminfo has no ${key}`)
          else out.reading(series, onGpus === undefined ? value : Math.max(0, value - (ON_NODES[key] ?? []).reduce((sum, name) => sum + onGpus(name), 0)))
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
