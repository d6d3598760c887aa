// What the driver says must be done before the GPU can be trusted again.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { fieldGauges } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const recoveryActionMetric = defineMetric({
  name: 'warpwatch_gpu_recovery_action',
  kind: 'gauge',
  unit: '1',
  help: 'What must be done: 0 nothing, 1 reset the GPU, 2 reboot, 3 drain P2P, 4 drain and reset, 5 recover the IMEX domain, 6 bus reset, 7 system reboot (R565 and newer).',
  labels: GPU_LABELS,
})

/** NVML_FI_DEV_GET_GPU_RECOVERY_ACTION */
const RECOVERY_ACTION = 230

export const recoveryAction: Collector = {
  id: 'recovery-action',
  rate: 'slow',
  metrics: [recoveryActionMetric],
  attach: (device) => ({ read: fieldGauges(device.fields([{ id: RECOVERY_ACTION }]), [{ metric: recoveryActionMetric, labels: device.labels }]) }),
}
