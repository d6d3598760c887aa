// What the driver says must be done before the GPU can be trusted again.
import { gpuRecoveryAction } from '../metrics/gpu-identity.ts'
import type { Collector } from './collector.ts'
import { fieldGauges } from './parts/gauges.ts'

/** NVML_FI_DEV_GET_GPU_RECOVERY_ACTION */
const RECOVERY_ACTION = 230

export const recoveryAction: Collector = {
  id: 'recovery-action',
  rate: 'slow',
  metrics: [gpuRecoveryAction],
  attach: (device) => ({ read: fieldGauges(device.fields([{ id: RECOVERY_ACTION }]), [{ metric: gpuRecoveryAction, labels: device.labels }]) }),
}
