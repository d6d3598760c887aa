// Temperatures, the limits at which the board protects itself, and the fan.
import { defineMetric } from '../model/metric.ts'
import { dcgmGauge, renamed } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuTemperatureCelsius = defineMetric({
  name: 'warpwatch_gpu_temperature_celsius',
  subject: 'gpu',
  field: 'temperature_celsius',
  kind: 'gauge',
  unit: 'Cel',
  help: 'Temperature of the GPU die; on AMD of its hottest spot (junction) where it has that sensor, else of its edge.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_GPU_TEMP', 'GPU temperature (in C).'), 'DCGM_FI_DEV_GPU_TEMP_CELSIUS'),
  otel: [{ name: 'hw.temperature', attributes: { 'hw.sensor_location': 'gpu' } }],
})
export const gpuMemoryTemperatureCelsius = defineMetric({
  name: 'warpwatch_gpu_memory_temperature_celsius',
  subject: 'gpu',
  field: 'memory_temperature_celsius',
  kind: 'gauge',
  unit: 'Cel',
  help: 'Temperature of the memory, on boards whose memory has a sensor (HBM, GDDR6X).',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_MEMORY_TEMP', 'Memory temperature (in C).'), 'DCGM_FI_DEV_MEMORY_TEMP_CELSIUS'),
  otel: [{ name: 'hw.temperature', attributes: { 'hw.sensor_location': 'memory' } }],
})
const limit = (threshold: string, type: string, sensor: string) => ({
  name: 'hw.temperature.limit',
  attributes: { 'hw.limit_type': type, 'hw.sensor_location': sensor },
  when: { threshold },
})
const slowdown = (name: string) => dcgmGauge(name, 'Slowdown temperature (in C).', 1, { threshold: 'slowdown' })
const shutdown = (name: string) => dcgmGauge(name, 'Shutdown temperature (in C).', 1, { threshold: 'shutdown' })
export const gpuTemperatureThresholdCelsius = defineMetric({
  name: 'warpwatch_gpu_temperature_threshold_celsius',
  subject: 'gpu',
  field: 'temperature_threshold_celsius',
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
export const gpuFanSpeedRatio = defineMetric({
  name: 'warpwatch_gpu_fan_speed_ratio',
  subject: 'gpu',
  field: 'fan_speed_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Intended fan speed as a share of the highest; may exceed 1. A blocked fan still shows what was asked of it.',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_FAN_SPEED', 'Fan speed (in %).', 100)] },
  otel: [{ name: 'hw.fan.speed_ratio' }],
})
export const gpuFanRevolutionsPerMinute = defineMetric({
  name: 'warpwatch_gpu_fan_revolutions_per_minute',
  subject: 'gpu',
  field: 'fan_revolutions_per_minute',
  by: 'fan',
  kind: 'gauge',
  unit: '{revolution}',
  help: 'Measured speed of each fan; 0 is a fan that does not turn. AMD and Intel.',
  labels: [...GPU_LABELS, 'fan'],
})
