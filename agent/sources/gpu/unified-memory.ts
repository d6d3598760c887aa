// Memory of a GPU that shares the host's (GB10, Thor, Orin): NVML has no total and no free there, so they are the host's, and used is what NVML lists by process.
import { readSmallFile } from '../../attribution/small-file.ts'
import { gpuMemoryFreeBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryUsedRatio } from '../../metrics/gpu-memory.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../../model/series.ts'
import type { Sample } from '../../sampler/child-handle.ts'
import { meminfoValue } from '../host/memory.ts'

export type HostMemory = { readonly totalBytes: number; readonly freeBytes: number }

/**
 * What the driver can still get, by NVIDIA's guide for the DGX Spark: huge pages where there are any, since CUDA then takes only them; else what is available,
 * and swap. Page cache counts as available, though the driver gets it only once the kernel has dropped it.
 */
export function hostMemory(meminfo: string): HostMemory | undefined {
  const total = meminfoValue(meminfo, 'MemTotal')
  const available = meminfoValue(meminfo, 'MemAvailable')
  if (total === undefined || available === undefined) return undefined
  const pages = meminfoValue(meminfo, 'HugePages_Total') ?? 0
  const free =
    pages > 0
      ? (meminfoValue(meminfo, 'HugePages_Free') ?? 0) * (meminfoValue(meminfo, 'Hugepagesize') ?? 0)
      : available + (meminfoValue(meminfo, 'SwapFree') ?? 0)
  return { totalBytes: total, freeBytes: Math.min(total, free) }
}

/** Reads it again for each sample. */
export const hostMemoryOf =
  (procRoot: string): (() => HostMemory | undefined) =>
  () => {
    try {
      return hostMemory(readSmallFile(`${procRoot}/meminfo`))
    } catch {
      return undefined
    }
  }

const TOLD: ReadonlySet<string> = new Set([gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryFreeBytes, gpuMemoryUsedRatio].map(({ name }) => name))

type SeriesOfGpu = { readonly total: Series; readonly used: Series; readonly free: Series; readonly ratio: Series }
export type UnifiedMemory = (labels: Labels, sample: Sample) => Pick<Sample, 'readings' | 'gaps'>

/** Puts the host's figures in the place of the gaps; decided by what NVML answers, never by the name of the GPU. */
export function createUnifiedMemory(host: () => HostMemory | undefined): UnifiedMemory {
  const known = new Map<string, SeriesOfGpu>()
  const seriesOf = (labels: Labels): SeriesOfGpu => {
    const key = labels['uuid'] ?? ''
    const found = known.get(key) ?? {
      total: makeSeries(gpuMemoryTotalBytes, labels),
      used: makeSeries(gpuMemoryUsedBytes, labels),
      free: makeSeries(gpuMemoryFreeBytes, labels),
      ratio: makeSeries(gpuMemoryUsedRatio, labels),
    }
    known.set(key, found)
    return found
  }
  const isWhole = (gap: Gap): boolean => TOLD.has(gap.metric) && gap.labels['gi'] === undefined && gap.reason === 'not_supported'
  return (labels, { sample, readings, gaps }) => {
    const memory = gaps.some((gap) => gap.metric === gpuMemoryTotalBytes.name && isWhole(gap)) ? host() : undefined
    if (memory === undefined) return { readings, gaps }
    const { total, used, free, ratio } = seriesOf(labels)
    const more: Reading[] = [
      { series: total, value: memory.totalBytes },
      { series: free, value: memory.freeBytes },
    ]
    // A process of the compute and the graphics list holds the same memory in both.
    const bytes = sample.processes?.reduce<number | undefined>((sum, row) => (sum === undefined || row.bytes === null ? undefined : sum + row.bytes), 0)
    if (bytes !== undefined) more.push({ series: used, value: bytes }, { series: ratio, value: Math.round((bytes / memory.totalBytes) * 1e6) / 1e6 })
    const answered = new Set(more.map(({ series }) => series.metric.name))
    return { readings: [...readings, ...more], gaps: gaps.filter((gap) => !(answered.has(gap.metric) && isWhole(gap))) }
  }
}
