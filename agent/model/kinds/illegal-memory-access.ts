// Illegal memory access.
import { defineKind } from './kind.ts'

export const illegalMemoryAccess = defineKind({
  id: 'illegal_memory_access',
  title: 'Illegal memory access',
  layer: 'program',
  from: 'logs',
  facts: ['cuda_error_code', 'xid', 'pci_bus_id'],
  crash: { rank: 11, echoesGpu: true },
  afterInText: ['xid', 'ecc_error'],
  chart: ['utilization'],
})
