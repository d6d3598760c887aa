// A CUDA library call failed.
import { defineKind } from './kind.ts'

export const cublasCudnnError = defineKind({
  id: 'cublas_cudnn_error',
  title: 'A CUDA library call failed',
  layer: 'program',
  from: 'logs',
  facts: ['status'],
  crash: { rank: 13, echoesGpu: true },
  afterInText: ['cuda_oom', 'nvml_allocator_assert', 'illegal_memory_access', 'xid', 'gpu_lost', 'ecc_error'],
  chart: ['memory'],
})
