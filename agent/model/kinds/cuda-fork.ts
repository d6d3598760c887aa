// CUDA used after a fork.
import { defineKind } from './kind.ts'

export const cudaFork = defineKind({
  id: 'cuda_fork',
  title: 'CUDA used after a fork',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 30,
  crash: { rank: 8 },
})
