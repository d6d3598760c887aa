// Temperatures of the GPU and, on boards with HBM or GDDR6X, of its memory.
import { LAYOUTS } from '../nvml/layouts.ts'
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge, renamed } from './parts/dcgm.ts'
import { all, fieldGauges, firstOf, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const temperatureCelsius = defineMetric({
  name: 'warpwatch_gpu_temperature_celsius',
  kind: 'gauge',
  unit: 'Cel',
  help: 'Temperature of the GPU die.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_GPU_TEMP', 'GPU temperature (in C).'), 'DCGM_FI_DEV_GPU_TEMP_CELSIUS'),
  otel: [{ name: 'hw.temperature', attributes: { 'hw.sensor_location': 'gpu' } }],
})
export const memoryTemperatureCelsius = defineMetric({
  name: 'warpwatch_gpu_memory_temperature_celsius',
  kind: 'gauge',
  unit: 'Cel',
  help: 'Temperature of the memory, on boards whose memory has a sensor (HBM, GDDR6X).',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_MEMORY_TEMP', 'Memory temperature (in C).'), 'DCGM_FI_DEV_MEMORY_TEMP_CELSIUS'),
  otel: [{ name: 'hw.temperature', attributes: { 'hw.sensor_location': 'memory' } }],
})

/** NVML_FI_DEV_MEMORY_TEMP */
const MEMORY_TEMP = 82
const SENSOR_GPU = 0

export const temperature: Collector = {
  id: 'temperature',
  rate: 'fast',
  metrics: [temperatureCelsius, memoryTemperatureCelsius],
  attach: (device) => ({
    read: all([
      // nvmlDeviceGetTemperature is deprecated since 13.0 and to go with CUDA 14; drivers up to R565 have nothing else.
      gauge(
        firstOf(device.struct('nvmlDeviceGetTemperatureV', LAYOUTS.nvmlTemperature_v1_t), device.query('nvmlDeviceGetTemperature', [SENSOR_GPU], ['i32'])),
        temperatureCelsius,
        device.labels,
      ),
      fieldGauges(device.fields([{ id: MEMORY_TEMP }]), [{ metric: memoryTemperatureCelsius, labels: device.labels }]),
    ]),
  }),
}
