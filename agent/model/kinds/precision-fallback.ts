// A program fell back to another precision or device.
import { defineKind } from './kind.ts'

export const precisionFallback = defineKind({
  id: 'precision_fallback',
  title: 'A program fell back to another precision or device',
  layer: 'program',
  from: 'logs',
  facts: ['from', 'to', 'library'],
  quietMinutes: 10,
  crash: { rank: 19, alone: true, fatal: false },
  afterInText: ['cuda_library_missing', 'cuda_version_mismatch', 'nvml_driver_mismatch', 'bitsandbytes_setup'],
  handled: true,
})
