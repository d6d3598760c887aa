// Driver library and kernel module versions differ.
import { defineKind } from './kind.ts'

export const nvmlDriverMismatch = defineKind({
  id: 'nvml_driver_mismatch',
  title: 'Driver library and kernel module versions differ',
  layer: 'platform',
  from: 'both',
  facts: ['client_version', 'kernel_version', 'library_version'],
  quietMinutes: 30,
  crash: { rank: 2, heldByDetector: true },
  newWhen: { other: ['kernel_version', 'library_version'] },
  gpuState: 'unreadable',
})
