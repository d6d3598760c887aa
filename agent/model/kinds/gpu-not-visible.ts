// No GPU visible to the program.
import { defineKind } from './kind.ts'

export const gpuNotVisible = defineKind({
  id: 'gpu_not_visible',
  title: 'No GPU visible to the program',
  layer: 'platform',
  from: 'logs',
  facts: ['library', 'cuda_error_code', 'path'],
  quietMinutes: 30,
  crash: { rank: 9, echoesGpu: true, echoOf: 'container_lost_gpu' },
  afterInText: ['nvml_driver_mismatch', 'cuda_library_missing', 'cuda_version_mismatch', 'gpu_lost'],
})
