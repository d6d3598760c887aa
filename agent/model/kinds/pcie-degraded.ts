// PCIe link slower than the card supports.
import { defineKind } from './kind.ts'

export const pcieDegraded = defineKind({
  id: 'pcie_degraded',
  title: 'PCIe link slower than the card supports',
  layer: 'gpu',
  from: 'numbers',
  facts: ['pcie_generation', 'pcie_generation_max', 'pcie_width', 'pcie_width_max', 'bandwidth_loss_ratio', 'pcie_replays_per_minute'],
  quietMinutes: 1440,
  needsReading: true,
  newWhen: { below: ['pcie_generation', 'pcie_width'], above: ['pcie_replays_per_minute'] },
})
