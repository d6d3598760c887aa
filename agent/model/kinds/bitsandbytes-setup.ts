// bitsandbytes cannot find its CUDA library.
import { defineKind } from './kind.ts'

export const bitsandbytesSetup = defineKind({
  id: 'bitsandbytes_setup',
  title: 'bitsandbytes cannot find its CUDA library',
  layer: 'platform',
  from: 'logs',
  facts: ['library'],
  crash: { rank: 10 },
  afterInText: ['cuda_library_missing'],
})
