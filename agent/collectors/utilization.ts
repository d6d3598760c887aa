// Utilization of compute and memory interface, as the driver averages it over its last sample period (1/6 s to 1 s). Not told under MIG.
import { defineMetric } from '../model/metric.ts'
import { LAYOUTS } from '../nvml/layouts.ts'
import type { Collector } from './collector.ts'
import { gauges } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

const PERCENT = 0.01

export const utilizationRatio = defineMetric({
  name: 'warpwatch_gpu_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the time in which a kernel ran (0 to 1); says nothing about how much of the GPU it used.',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_GPU_UTIL', kind: 'gauge', help: 'GPU utilization (in %).', scale: 100 }],
    current: [{ name: 'DCGM_FI_DEV_GPU_UTIL_RATIO', kind: 'gauge', help: 'GPU utilization (ratio).', scale: 1 }],
  },
  otel: [{ name: 'hw.gpu.utilization', attributes: { 'hw.gpu.task': 'general' } }],
})
export const memoryUtilizationRatio = defineMetric({
  name: 'warpwatch_gpu_memory_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the time in which device memory was read or written (0 to 1).',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_MEM_COPY_UTIL', kind: 'gauge', help: 'Memory utilization (in %).', scale: 100 }],
    current: [{ name: 'DCGM_FI_DEV_MEMORY_UTIL_RATIO', kind: 'gauge', help: 'Memory utilization (ratio).', scale: 1 }],
  },
})

export const utilization: Collector = {
  id: 'utilization',
  rate: 'fast',
  metrics: [utilizationRatio, memoryUtilizationRatio],
  attach: (device) => ({
    read: gauges(device.struct('nvmlDeviceGetUtilizationRates', LAYOUTS.nvmlUtilization_t), [
      { metric: utilizationRatio, labels: device.labels, at: 0, scale: PERCENT },
      { metric: memoryUtilizationRatio, labels: device.labels, at: 1, scale: PERCENT },
    ]),
  }),
}
