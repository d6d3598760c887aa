// Settings of the GPU that matter when something is slow or refused.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge, renamed } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const persistenceMode = defineMetric({
  name: 'warpwatch_gpu_persistence_mode',
  kind: 'gauge',
  unit: '1',
  help: 'Whether the driver stays loaded without clients (1); without it every first client waits for seconds.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_PERSISTENCE_MODE', 'Persistence mode (0 off, 1 on).'), 'DCGM_FI_DEV_GPU_PERSISTENCE_MODE'),
  history: false,
})
export const computeMode = defineMetric({
  name: 'warpwatch_gpu_compute_mode',
  kind: 'gauge',
  unit: '1',
  help: 'Who may use the GPU: 0 any number of processes, 2 none, 3 one process.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_COMPUTE_MODE', 'Compute mode (0 default, 2 prohibited, 3 exclusive process).'), 'DCGM_FI_DEV_GPU_COMPUTE_MODE'),
  history: false,
})

export const modes: Collector = {
  id: 'modes',
  rate: 'rare',
  metrics: [persistenceMode, computeMode],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetPersistenceMode'), persistenceMode, device.labels),
      gauge(device.query('nvmlDeviceGetComputeMode'), computeMode, device.labels),
    ]),
  }),
}
