// The GPU takes no further process.
import { defineKind } from './kind.ts'

export const gpuBusy = defineKind({
  id: 'gpu_busy',
  title: 'GPU busy or unavailable',
  layer: 'gpu',
  from: 'logs',
  facts: ['cuda_error_code'],
  crash: { rank: 8 },
})
