// NVIDIA kernel module not built or not loaded.
import { defineKind } from './kind.ts'

export const driverNotLoaded = defineKind({
  id: 'driver_not_loaded',
  title: 'NVIDIA kernel module not built or not loaded',
  layer: 'platform',
  from: 'logs',
  facts: ['kernel_version'],
  crash: { rank: 3 },
})
