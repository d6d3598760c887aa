// Utilization of compute and memory interface, as the driver averages it over its last sample period (1/6 s to 1 s). Not reported under MIG.
import { gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../metrics/gpu-load.ts'
import { LAYOUTS } from '../nvml/layouts.ts'
import type { Collector } from './collector.ts'
import { gauges } from './parts/gauges.ts'

const PERCENT = 0.01

export const utilization: Collector = {
  id: 'utilization',
  rate: 'fast',
  metrics: [gpuUtilizationRatio, gpuMemoryUtilizationRatio],
  attach: (device) => ({
    read: gauges(device.struct('nvmlDeviceGetUtilizationRates', LAYOUTS.nvmlUtilization_t), [
      { metric: gpuUtilizationRatio, labels: device.labels, at: 0, scale: PERCENT },
      { metric: gpuMemoryUtilizationRatio, labels: device.labels, at: 1, scale: PERCENT },
    ]),
  }),
}
