// GPU lost.
import { defineKind } from './kind.ts'

export const gpuLost = defineKind({
  id: 'gpu_lost',
  title: 'GPU lost',
  layer: 'gpu',
  from: 'logs',
  facts: ['pci_bus_id'],
  quietMinutes: 60,
  crash: { rank: 0, hitsWholeGpu: true, echoesGpu: true },
  needsReading: true,
  ofCard: true,
  follows: [{ causes: ['xid', 'power_brake'], on: 'gpu', withinMinutes: 5, lateMinutes: 1 }],
  chart: ['utilization'],
  gpuState: 'unreadable',
})
