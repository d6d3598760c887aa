// A container lost its GPU.
import { defineKind } from './kind.ts'

export const containerLostGpu = defineKind({
  id: 'container_lost_gpu',
  title: 'A container lost its GPU',
  layer: 'platform',
  from: 'numbers',
  facts: ['gpus_lost'],
  quietMinutes: 1440,
  crash: { rank: 7, joins: true },
  ofCard: true,
  follows: [{ causes: ['gpu_missing', 'driver_hung', 'gpu_lost', 'xid'], on: 'gpu', withinMinutes: 10, lateMinutes: 2 }],
  newWhen: { more: ['gpus_lost'] },
  chart: ['utilization'],
})
