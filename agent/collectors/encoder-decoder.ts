// Utilization of the video engines. Not told under MIG.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

const PERCENT = 0.01

export const encoderUtilizationRatio = defineMetric({
  name: 'warpwatch_gpu_encoder_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the time in which the video encoders worked (0 to 1).',
  labels: GPU_LABELS,
  dcgm: {
    classic: [dcgmGauge('DCGM_FI_DEV_ENC_UTIL', 'Encoder utilization (in %).', 100)],
    current: [dcgmGauge('DCGM_FI_DEV_ENC_UTIL_RATIO', 'Encoder utilization (ratio).')],
  },
  otel: [{ name: 'hw.gpu.utilization', attributes: { 'hw.gpu.task': 'encoder' } }],
})
export const decoderUtilizationRatio = defineMetric({
  name: 'warpwatch_gpu_decoder_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the time in which the video decoders worked (0 to 1).',
  labels: GPU_LABELS,
  dcgm: {
    classic: [dcgmGauge('DCGM_FI_DEV_DEC_UTIL', 'Decoder utilization (in %).', 100)],
    current: [dcgmGauge('DCGM_FI_DEV_DEC_UTIL_RATIO', 'Decoder utilization (ratio).')],
  },
  otel: [{ name: 'hw.gpu.utilization', attributes: { 'hw.gpu.task': 'decoder' } }],
})

export const encoderDecoder: Collector = {
  id: 'encoder-decoder',
  rate: 'slow',
  metrics: [encoderUtilizationRatio, decoderUtilizationRatio],
  attach: (device) => ({
    // The second number is the sample period in microseconds.
    read: all([
      gauge(device.query('nvmlDeviceGetEncoderUtilization', [], ['u32', 'u32']), encoderUtilizationRatio, device.labels, PERCENT),
      gauge(device.query('nvmlDeviceGetDecoderUtilization', [], ['u32', 'u32']), decoderUtilizationRatio, device.labels, PERCENT),
    ]),
  }),
}
