// MIG: whether it is on, and which instances there are.
import { defineMetric } from '../model/metric.ts'
import { GPU_LABELS, MIG_LABELS } from './labels.ts'

export const gpuMigEnabled = defineMetric({
  name: 'warpwatch_gpu_mig_enabled',
  subject: 'gpu',
  field: 'mig_enabled',
  kind: 'gauge',
  unit: '1',
  help: 'Whether MIG is on (1) or off (0).',
  labels: GPU_LABELS,
  history: false,
})
export const gpuMigInfo = defineMetric({
  name: 'warpwatch_gpu_mig_info',
  subject: 'mig',
  field: 'mig_info',
  kind: 'info',
  unit: '1',
  help: 'Always 1; one series for each MIG instance.',
  labels: [...MIG_LABELS, 'mig_uuid', 'name'],
  history: false,
})
export const gpuMigMultiprocessors = defineMetric({
  name: 'warpwatch_gpu_mig_multiprocessors',
  subject: 'mig',
  field: 'mig_multiprocessors',
  kind: 'gauge',
  unit: '1',
  help: 'Multiprocessors of the MIG instance.',
  labels: MIG_LABELS,
  history: false,
})
