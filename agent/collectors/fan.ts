// Fan speed. Boards without fans do not report it.
import { gpuFanSpeedRatio } from '../metrics/gpu-temperature.ts'
import type { Collector } from './collector.ts'
import { gauge } from './parts/gauges.ts'

export const fan: Collector = {
  id: 'fan',
  rate: 'slow',
  metrics: [gpuFanSpeedRatio],
  attach: (device) => ({ read: gauge(device.query('nvmlDeviceGetFanSpeed'), gpuFanSpeedRatio, device.labels, 0.01) }),
}
