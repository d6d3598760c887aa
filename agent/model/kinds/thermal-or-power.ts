// GPU slowed down by heat or power.
import { defineKind } from './kind.ts'

export const thermalOrPower = defineKind({
  id: 'thermal_or_power',
  title: 'GPU slowed down by heat or power',
  layer: 'gpu',
  from: 'logs',
  facts: ['active_reasons', 'pci_bus_id'],
  crash: { rank: 15, alone: true, fatal: false },
  chart: ['temperature', 'power'],
  gpuState: 'slowed',
})
