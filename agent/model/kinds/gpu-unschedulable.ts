// Kubernetes, Slurm or Ray has no place for a job.
import { defineKind } from './kind.ts'

export const gpuUnschedulable = defineKind({
  id: 'gpu_unschedulable',
  title: 'The scheduler cannot place the job',
  layer: 'platform',
  from: 'logs',
  facts: [],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: ['xid', 'gpu_lost', 'ecc_error', 'nvml_driver_mismatch', 'gpu_not_visible'],
})
