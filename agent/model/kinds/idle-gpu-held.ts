// GPU memory held by an idle job.
import { defineKind } from './kind.ts'

export const idleGpuHeld = defineKind({
  id: 'idle_gpu_held',
  title: 'GPU memory held by an idle job',
  layer: 'usage',
  from: 'numbers',
  facts: ['process_bytes', 'other_processes', 'since_ms', 'pattern', 'holder', 'idle_seconds', 'jobs', 'mig_instance', 'gpus', 'cpu_cores'],
  quietMinutes: 60,
  // A job that waits for the others in a collective that never ends holds its memory and does nothing.
  follows: [{ causes: ['nccl_error', 'container_lost_gpu'], on: 'either', withinMinutes: 60, lateMinutes: 0 }],
  chart: ['utilization'],
})
