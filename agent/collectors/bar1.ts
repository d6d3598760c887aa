// BAR1: the window through which CPU and other devices reach the GPU's memory; when it is full, mappings fail. MIG instances have windows of their own.
import { gpuBar1FreeBytes, gpuBar1TotalBytes, gpuBar1UsedBytes } from '../metrics/gpu-memory.ts'
import type { Handle } from '../nvml/device.ts'
import { LAYOUTS } from '../nvml/layouts.ts'
import type { Collector } from './collector.ts'
import { all, gauges } from './parts/gauges.ts'

const readBar1 = (handle: Handle) =>
  gauges(handle.struct('nvmlDeviceGetBAR1MemoryInfo', LAYOUTS.nvmlBAR1Memory_t), [
    { metric: gpuBar1TotalBytes, labels: handle.labels, at: 0 },
    { metric: gpuBar1UsedBytes, labels: handle.labels, at: 1 },
    { metric: gpuBar1FreeBytes, labels: handle.labels, at: 2 },
  ])

export const bar1: Collector = {
  id: 'bar1',
  rate: 'slow',
  metrics: [gpuBar1TotalBytes, gpuBar1UsedBytes, gpuBar1FreeBytes],
  attach: (device) => ({ read: all([device, ...device.mig].map(readBar1)) }),
}
