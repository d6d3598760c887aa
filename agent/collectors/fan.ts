// Fan speed. Boards without fans do not tell it.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const fanSpeedRatio = defineMetric({
  name: 'warpwatch_gpu_fan_speed_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Intended fan speed as a share of the highest; may exceed 1. A blocked fan still shows what was asked of it.',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_FAN_SPEED', 'Fan speed (in %).', 100)] },
  otel: [{ name: 'hw.fan.speed_ratio' }],
})

export const fan: Collector = {
  id: 'fan',
  rate: 'slow',
  metrics: [fanSpeedRatio],
  attach: (device) => ({ read: gauge(device.query('nvmlDeviceGetFanSpeed'), fanSpeedRatio, device.labels, 0.01) }),
}
