// Two jobs on one GPU, and another one that they could use is empty.
import { defineKind } from './kind.ts'

export const sharedGpu = defineKind({
  id: 'shared_gpu',
  title: 'Two jobs share a GPU while another is empty',
  layer: 'usage',
  from: 'numbers',
  facts: ['gpus', 'idle_gpus', 'jobs', 'other_processes', 'since_ms'],
  chart: ['memory'],
})
