// A CUDA library is missing.
import { defineKind } from './kind.ts'

export const cudaLibraryMissing = defineKind({
  id: 'cuda_library_missing',
  title: 'A CUDA library is missing',
  layer: 'platform',
  from: 'logs',
  facts: ['library'],
  quietMinutes: 30,
  crash: { rank: 9 },
})
