// Settings of the GPU that matter when something is slow or refused.
import { gpuComputeMode, gpuPersistenceMode } from '../metrics/gpu-identity.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

export const modes: Collector = {
  id: 'modes',
  rate: 'rare',
  metrics: [gpuPersistenceMode, gpuComputeMode],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetPersistenceMode'), gpuPersistenceMode, device.labels),
      gauge(device.query('nvmlDeviceGetComputeMode'), gpuComputeMode, device.labels),
    ]),
  }),
}
