// At which temperatures the board slows down or switches itself off, and how hot its memory may be.
import { gpuTemperatureThresholdCelsius } from '../metrics/gpu-temperature.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

/** nvmlTemperatureThresholds_t. From Ada on many boards report none (they give margins instead). */
const THRESHOLDS = [
  { type: 0, threshold: 'shutdown' },
  { type: 1, threshold: 'slowdown' },
  { type: 2, threshold: 'memory_max' },
] as const

export const temperatureThresholds: Collector = {
  id: 'temperature-thresholds',
  rate: 'rare',
  metrics: [gpuTemperatureThresholdCelsius],
  attach: (device) => ({
    read: all(
      THRESHOLDS.map(({ type, threshold }) =>
        gauge(device.query('nvmlDeviceGetTemperatureThreshold', [type]), gpuTemperatureThresholdCelsius, { ...device.labels, threshold }),
      ),
    ),
  }),
}
