// Uncorrected PCIe error at a GPU.
import { defineKind } from './kind.ts'

export const pcieAer = defineKind({
  id: 'pcie_aer',
  title: 'Uncorrected PCIe error at a GPU',
  layer: 'gpu',
  from: 'logs',
  facts: ['pci_bus_id'],
  quietMinutes: 1440,
  crash: { rank: 1 },
})
