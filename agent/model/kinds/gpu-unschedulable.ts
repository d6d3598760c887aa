// Kubernetes has no GPU for a pod.
import { defineKind } from './kind.ts'

export const gpuUnschedulable = defineKind({
  id: 'gpu_unschedulable',
  title: 'Kubernetes has no GPU for the pod',
  layer: 'platform',
  from: 'logs',
  facts: [],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: ['xid', 'gpu_lost', 'ecc_error', 'nvml_driver_mismatch', 'gpu_not_visible'],
})
