// Page fault on an AMD or Intel GPU.
import { defineKind } from './kind.ts'

export const gpuPageFault = defineKind({
  id: 'gpu_page_fault',
  title: 'Page fault on an AMD or Intel GPU',
  layer: 'gpu',
  from: 'logs',
  facts: ['pci_bus_id'],
  quietMinutes: 60,
  crash: { rank: 3 },
})
