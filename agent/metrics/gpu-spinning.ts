// Whether a GPU only waits in a kernel, as in a collective that another rank has not joined.
import { defineMetric } from '../model/metric.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuSpinning = defineMetric({
  name: 'warpwatch_gpu_spinning',
  subject: 'gpu',
  field: 'spinning',
  kind: 'gauge',
  unit: '1',
  help: '1 = busy by its counter, idle by its power and memory traffic, for ten seconds: it waits in a kernel, as in a collective that a rank has not joined.',
  labels: GPU_LABELS,
})
