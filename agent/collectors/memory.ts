// Memory of GPUs and MIG instances: total, used, free, reserved by the driver.
import { FUNCTION_NOT_FOUND, SUCCESS, failureOf } from '../nvml/codes.ts'
import type { Handle } from '../nvml/device.ts'
import { defineMetric } from '../model/metric.ts'
import { makeSeries } from '../model/series.ts'
import type { Collector, ReadGpu } from './collector.ts'
import { dcgmGauge, renamed } from './parts/dcgm.ts'
import { all } from './parts/gauges.ts'
import { MIG_LABELS } from './parts/labels.ts'
import { MEMORY, memoryQuery } from './parts/memory-query.ts'

const MIB = 1024 ** 2
const perMib = (name: string, help: string) => [{ name, kind: 'gauge', help, scale: 1 / MIB }] as const
const asBytes = (name: string, help: string) => [{ name, kind: 'gauge', help, scale: 1 }] as const

export const memoryTotal = defineMetric({
  name: 'warpwatch_gpu_memory_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory of the GPU or MIG instance, reserved memory included.',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_TOTAL', 'Total framebuffer memory (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_CAPACITY_BYTES', 'Total framebuffer memory (in bytes).'),
  },
  otel: [{ name: 'hw.gpu.memory.limit', upDown: true }],
})
export const memoryUsed = defineMetric({
  name: 'warpwatch_gpu_memory_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory in use, without what the driver reserves (drivers before R510: with it, then no reserved series exists).',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_USED', 'Framebuffer memory used (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_USED_BYTES', 'Framebuffer memory used (in bytes).'),
  },
  otel: [{ name: 'hw.gpu.memory.usage', upDown: true }],
})
export const memoryFree = defineMetric({
  name: 'warpwatch_gpu_memory_free_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory that can still be allocated.',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_FREE', 'Framebuffer memory free (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_FREE_BYTES', 'Framebuffer memory free (in bytes).'),
  },
})
export const memoryReserved = defineMetric({
  name: 'warpwatch_gpu_memory_reserved_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory that driver and firmware keep for themselves.',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_RESERVED', 'Framebuffer memory reserved (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_RESERVED_BYTES', 'Framebuffer memory reserved (in bytes).'),
  },
})
export const memoryUsedRatio = defineMetric({
  name: 'warpwatch_gpu_memory_used_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Memory in use as a share of what programs can have: the total without what driver and firmware keep.',
  labels: MIG_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_FB_USED_PERCENT', 'Framebuffer memory used as a share of total minus reserved (0 to 1).'), 'DCGM_FI_DEV_FB_USED_RATIO'),
  history: false,
})

/** Six decimals, as DCGM prints it: a byte more or less of 80 GiB is no new value. */
const share = (used: number, all: number): number => Math.round((used / all) * 1e6) / 1e6

function readMemory(handle: Handle): ReadGpu {
  const query = memoryQuery(handle)
  const { labels } = handle
  const total = makeSeries(memoryTotal, labels)
  const used = makeSeries(memoryUsed, labels)
  const free = makeSeries(memoryFree, labels)
  const reserved = makeSeries(memoryReserved, labels)
  const ratio = makeSeries(memoryUsedRatio, labels)
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
    else out.gap(memoryReserved, labels, failureOf('nvmlDeviceGetMemoryInfo_v2', FUNCTION_NOT_FOUND))
    const usable = (values[MEMORY.total] ?? Number.NaN) - (query.tellsReserved() ? (values[MEMORY.reserved] ?? Number.NaN) : 0)
    if (usable > 0) out.reading(ratio, share(values[MEMORY.used] ?? Number.NaN, usable))
  }
}

export const memory: Collector = {
  id: 'memory',
  rate: 'fast',
  metrics: [memoryTotal, memoryUsed, memoryFree, memoryReserved, memoryUsedRatio],
  attach: (device) => ({ read: all([device, ...device.mig].map(readMemory)) }),
}
