// BAR1: the window through which CPU and other devices reach the GPU's memory; when it is full, mappings fail. MIG instances have windows of their own.
import type { Handle } from '../nvml/device.ts'
import { LAYOUTS } from '../nvml/layouts.ts'
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { all, gauges } from './parts/gauges.ts'
import { MIG_LABELS } from './parts/labels.ts'

const mebibytes = (name: string, help: string) => ({ classic: [dcgmGauge(name, help, 1 / 1024 ** 2)] })

export const bar1Total = defineMetric({
  name: 'warpwatch_gpu_bar1_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Size of the BAR1 window.',
  labels: MIG_LABELS,
  dcgm: mebibytes('DCGM_FI_DEV_BAR1_TOTAL', 'Total BAR1 memory (in MiB).'),
  history: false,
})
export const bar1Used = defineMetric({
  name: 'warpwatch_gpu_bar1_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Mapped part of the BAR1 window.',
  labels: MIG_LABELS,
  dcgm: mebibytes('DCGM_FI_DEV_BAR1_USED', 'Used BAR1 memory (in MiB).'),
})
export const bar1Free = defineMetric({
  name: 'warpwatch_gpu_bar1_free_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Part of the BAR1 window that nothing is mapped into.',
  labels: MIG_LABELS,
  dcgm: mebibytes('DCGM_FI_DEV_BAR1_FREE', 'Free BAR1 memory (in MiB).'),
  history: false,
})

const readBar1 = (handle: Handle) =>
  gauges(handle.struct('nvmlDeviceGetBAR1MemoryInfo', LAYOUTS.nvmlBAR1Memory_t), [
    { metric: bar1Total, labels: handle.labels, at: 0 },
    { metric: bar1Used, labels: handle.labels, at: 1 },
    { metric: bar1Free, labels: handle.labels, at: 2 },
  ])

export const bar1: Collector = {
  id: 'bar1',
  rate: 'slow',
  metrics: [bar1Total, bar1Used, bar1Free],
  attach: (device) => ({ read: all([device, ...device.mig].map(readBar1)) }),
}
