// A container was given a GPU and has no process on any.
import { defineKind } from './kind.ts'

export const unusedGpu = defineKind({
  id: 'unused_gpu',
  title: 'A container does not use the GPU that it was given',
  layer: 'usage',
  from: 'numbers',
  facts: ['gpus', 'jobs', 'since_ms', 'idle_seconds', 'cpu_cores'],
  quietMinutes: 60,
  follows: [{ causes: ['container_lost_gpu'], on: 'either', withinMinutes: 60, lateMinutes: 0 }],
  chart: ['utilization'],
})
