// Temperatures of the GPU and, on boards with HBM or GDDR6X, of its memory.
import { gpuMemoryTemperatureCelsius, gpuTemperatureCelsius } from '../metrics/gpu-temperature.ts'
import { LAYOUTS } from '../nvml/layouts.ts'
import type { Collector } from './collector.ts'
import { all, fieldGauges, firstOf, gauge } from './parts/gauges.ts'

/** NVML_FI_DEV_MEMORY_TEMP */
const MEMORY_TEMP = 82
const SENSOR_GPU = 0

export const temperature: Collector = {
  id: 'temperature',
  rate: 'fast',
  metrics: [gpuTemperatureCelsius, gpuMemoryTemperatureCelsius],
  attach: (device) => ({
    read: all([
      // nvmlDeviceGetTemperature is deprecated since 13.0 and to go with CUDA 14; drivers up to R565 have nothing else.
      gauge(
        firstOf(device.struct('nvmlDeviceGetTemperatureV', LAYOUTS.nvmlTemperature_v1_t), device.query('nvmlDeviceGetTemperature', [SENSOR_GPU], ['i32'])),
        gpuTemperatureCelsius,
        device.labels,
      ),
      fieldGauges(device.fields([{ id: MEMORY_TEMP }]), [{ metric: gpuMemoryTemperatureCelsius, labels: device.labels }]),
    ]),
  }),
}
