// Memory rows replaced by spare ones (Ampere and newer). A failed remapping means that the board must be replaced.
import { gpuRemappedRows, gpuRowRemapFailure, gpuRowRemapPending } from '../metrics/gpu-errors.ts'
import type { Collector } from './collector.ts'
import { gauges } from './parts/gauges.ts'

export const rowRemapping: Collector = {
  id: 'row-remapping',
  rate: 'slow',
  metrics: [gpuRemappedRows, gpuRowRemapPending, gpuRowRemapFailure],
  attach: (device) => ({
    read: gauges(device.query('nvmlDeviceGetRemappedRows', [], ['u32', 'u32', 'u32', 'u32']), [
      { metric: gpuRemappedRows, labels: { ...device.labels, type: 'corrected' }, at: 0 },
      { metric: gpuRemappedRows, labels: { ...device.labels, type: 'uncorrected' }, at: 1 },
      { metric: gpuRowRemapPending, labels: device.labels, at: 2 },
      { metric: gpuRowRemapFailure, labels: device.labels, at: 3 },
    ]),
  }),
}
