// GPU reset by its driver (AMD, Intel).
import { defineKind } from './kind.ts'

export const gpuReset = defineKind({
  id: 'gpu_reset',
  title: 'GPU reset by its driver (AMD, Intel)',
  layer: 'gpu',
  from: 'logs',
  facts: ['pci_bus_id', 'status'],
  quietMinutes: 60,
  crash: { rank: 2 },
  afterInText: ['ecc_error', 'gpu_page_fault'],
})
