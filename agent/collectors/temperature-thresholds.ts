// At which temperatures the board slows down or switches itself off, and how hot its memory may be.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const temperatureThreshold = defineMetric({
  name: 'warpwatch_gpu_temperature_threshold_celsius',
  kind: 'gauge',
  unit: 'Cel',
  help: 'Temperatures at which the board protects itself: slowdown and shutdown of the GPU, memory_max for its memory.',
  labels: [...GPU_LABELS, 'threshold'],
  history: false,
})

/** nvmlTemperatureThresholds_t. From Ada on many boards tell none (they give margins instead). */
const THRESHOLDS = [
  { type: 0, threshold: 'shutdown' },
  { type: 1, threshold: 'slowdown' },
  { type: 2, threshold: 'memory_max' },
] as const

export const temperatureThresholds: Collector = {
  id: 'temperature-thresholds',
  rate: 'rare',
  metrics: [temperatureThreshold],
  attach: (device) => ({
    read: all(
      THRESHOLDS.map(({ type, threshold }) =>
        gauge(device.query('nvmlDeviceGetTemperatureThreshold', [type]), temperatureThreshold, { ...device.labels, threshold }),
      ),
    ),
  }),
}
