// At which temperatures the board slows down or switches itself off, and how hot its memory may be.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

const limit = (threshold: string, type: string, sensor: string) => ({
  name: 'hw.temperature.limit',
  attributes: { 'hw.limit_type': type, 'hw.sensor_location': sensor },
  when: { threshold },
})

const slowdown = (name: string) => dcgmGauge(name, 'Slowdown temperature (in C).', 1, { threshold: 'slowdown' })
const shutdown = (name: string) => dcgmGauge(name, 'Shutdown temperature (in C).', 1, { threshold: 'shutdown' })

export const temperatureThreshold = defineMetric({
  name: 'warpwatch_gpu_temperature_threshold_celsius',
  kind: 'gauge',
  unit: 'Cel',
  help: 'Temperatures at which the board protects itself: slowdown and shutdown of the GPU, memory_max for its memory.',
  labels: [...GPU_LABELS, 'threshold'],
  dcgm: {
    classic: [slowdown('DCGM_FI_DEV_SLOWDOWN_TEMP'), shutdown('DCGM_FI_DEV_SHUTDOWN_TEMP')],
    current: [slowdown('DCGM_FI_DEV_GPU_TEMP_SLOWDOWN_CELSIUS'), shutdown('DCGM_FI_DEV_GPU_TEMP_SHUTDOWN_CELSIUS')],
  },
  otel: [limit('slowdown', 'high.degraded', 'gpu'), limit('shutdown', 'high.critical', 'gpu'), limit('memory_max', 'high.degraded', 'memory')],
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
