// BAR1: the window through which CPU and other devices reach the GPU's memory; when it is full, mappings fail.
import { LAYOUTS } from '../nvml/layouts.ts'
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { gauges } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const bar1Total = defineMetric({
  name: 'warpwatch_gpu_bar1_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Size of the BAR1 window.',
  labels: GPU_LABELS,
  history: false,
})
export const bar1Used = defineMetric({
  name: 'warpwatch_gpu_bar1_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Mapped part of the BAR1 window.',
  labels: GPU_LABELS,
})

export const bar1: Collector = {
  id: 'bar1',
  rate: 'slow',
  metrics: [bar1Total, bar1Used],
  attach: (device) => ({
    read: gauges(device.struct('nvmlDeviceGetBAR1MemoryInfo', LAYOUTS.nvmlBAR1Memory_t), [
      { metric: bar1Total, labels: device.labels, at: 0 },
      { metric: bar1Used, labels: device.labels, at: 1 },
    ]),
  }),
}
