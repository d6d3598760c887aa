// NVML: Unknown Error.
import { defineKind } from './kind.ts'

export const nvmlUnknownError = defineKind({
  id: 'nvml_unknown_error',
  title: 'NVML: Unknown Error',
  layer: 'platform',
  from: 'logs',
  facts: [],
  crash: { rank: 12, echoesGpu: true, echoOf: 'container_lost_gpu' },
})
