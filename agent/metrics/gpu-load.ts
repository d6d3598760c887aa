// How busy the GPU is, as the driver averages it over its last sample period. Not reported under MIG; GPM gives more (gpm.ts).
import { defineMetric } from '../model/metric.ts'
import { dcgmGauge } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuUtilizationRatio = defineMetric({
  name: 'warpwatch_gpu_utilization_ratio',
  subject: 'gpu',
  field: 'utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the time in which a kernel ran (0 to 1); says nothing about how much of the GPU it used.',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_GPU_UTIL', kind: 'gauge', help: 'GPU utilization (in %).', scale: 100 }],
    current: [{ name: 'DCGM_FI_DEV_GPU_UTIL_RATIO', kind: 'gauge', help: 'GPU utilization (ratio).', scale: 1 }],
  },
  otel: [{ name: 'hw.gpu.utilization', attributes: { 'hw.gpu.task': 'general' } }],
})
export const gpuMemoryUtilizationRatio = defineMetric({
  name: 'warpwatch_gpu_memory_utilization_ratio',
  subject: 'gpu',
  field: 'memory_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the time in which device memory was read or written (0 to 1).',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_MEM_COPY_UTIL', kind: 'gauge', help: 'Memory utilization (in %).', scale: 100 }],
    current: [{ name: 'DCGM_FI_DEV_MEMORY_UTIL_RATIO', kind: 'gauge', help: 'Memory utilization (ratio).', scale: 1 }],
  },
})
export const gpuEncoderUtilizationRatio = defineMetric({
  name: 'warpwatch_gpu_encoder_utilization_ratio',
  subject: 'gpu',
  field: 'encoder_utilization_ratio',
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
export const gpuDecoderUtilizationRatio = defineMetric({
  name: 'warpwatch_gpu_decoder_utilization_ratio',
  subject: 'gpu',
  field: 'decoder_utilization_ratio',
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
export const gpuUtilizationMethodInfo = defineMetric({
  name: 'warpwatch_gpu_utilization_method_info',
  subject: 'gpu',
  field: 'utilization_method_info',
  kind: 'info',
  unit: '1',
  help: 'Always 1; where the utilization of an Intel GPU comes from. engines: time of its engines, from all its clients; awake: share of the time outside of its idle state, which is an upper bound.',
  labels: [...GPU_LABELS, 'method'],
  history: false,
})
