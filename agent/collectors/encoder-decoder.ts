// Utilization of the video engines. Not reported under MIG.
import { gpuDecoderUtilizationRatio, gpuEncoderUtilizationRatio } from '../metrics/gpu-load.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

const PERCENT = 0.01

export const encoderDecoder: Collector = {
  id: 'encoder-decoder',
  rate: 'slow',
  metrics: [gpuEncoderUtilizationRatio, gpuDecoderUtilizationRatio],
  attach: (device) => ({
    // The second number is the sample period in microseconds.
    read: all([
      gauge(device.query('nvmlDeviceGetEncoderUtilization', [], ['u32', 'u32']), gpuEncoderUtilizationRatio, device.labels, PERCENT),
      gauge(device.query('nvmlDeviceGetDecoderUtilization', [], ['u32', 'u32']), gpuDecoderUtilizationRatio, device.labels, PERCENT),
    ]),
  }),
}
