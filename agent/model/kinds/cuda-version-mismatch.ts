// CUDA, driver and GPU versions do not match.
import { defineKind } from './kind.ts'

export const cudaVersionMismatch = defineKind({
  id: 'cuda_version_mismatch',
  title: 'CUDA, driver and GPU versions do not match',
  layer: 'platform',
  from: 'logs',
  facts: ['cuda_error_code', 'library'],
  quietMinutes: 30,
  crash: { rank: 9 },
})
