// Memory of GPUs and MIG instances: total, used, free, reserved by the driver.
import { gpuMemoryFreeBytes, gpuMemoryReservedBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryUsedRatio } from '../metrics/gpu-memory.ts'
import { FUNCTION_NOT_FOUND, SUCCESS, failureOf } from '../nvml/codes.ts'
import type { Handle } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Collector, ReadGpu } from './collector.ts'
import { all } from './parts/gauges.ts'
import { MEMORY, memoryQuery } from './parts/memory-query.ts'
import { share } from './parts/share.ts'

function readMemory(handle: Handle): ReadGpu {
  const query = memoryQuery(handle)
  const { labels } = handle
  const total = makeSeries(gpuMemoryTotalBytes, labels)
  const used = makeSeries(gpuMemoryUsedBytes, labels)
  const free = makeSeries(gpuMemoryFreeBytes, labels)
  const reserved = makeSeries(gpuMemoryReservedBytes, labels)
  const ratio = makeSeries(gpuMemoryUsedRatio, labels)
  return (out) => {
    const code = query.ask()
    if (code !== SUCCESS) {
      for (const { metric } of [total, used, free, reserved, ratio]) out.gap(metric, labels, failureOf(query.name(), code))
      return
    }
    const values = query.values()
    out.reading(total, values[MEMORY.total] ?? Number.NaN)
    out.reading(used, values[MEMORY.used] ?? Number.NaN)
    out.reading(free, values[MEMORY.free] ?? Number.NaN)
    if (query.tellsReserved()) out.reading(reserved, values[MEMORY.reserved] ?? Number.NaN)
    else out.gap(gpuMemoryReservedBytes, labels, failureOf('nvmlDeviceGetMemoryInfo_v2', FUNCTION_NOT_FOUND))
    const usable = (values[MEMORY.total] ?? Number.NaN) - (query.tellsReserved() ? (values[MEMORY.reserved] ?? Number.NaN) : 0)
    if (usable > 0) out.reading(ratio, share(values[MEMORY.used] ?? Number.NaN, usable))
  }
}

export const memory: Collector = {
  id: 'memory',
  rate: 'fast',
  metrics: [gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryFreeBytes, gpuMemoryReservedBytes, gpuMemoryUsedRatio],
  attach: (device) => ({ read: all([device, ...device.mig].map(readMemory)) }),
}
