// Another process takes the GPU memory that a job needs.
import { defineKind } from './kind.ts'

export const neighbourPressure = defineKind({
  id: 'neighbour_pressure',
  title: 'Another process takes the GPU memory that a job needs',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: [
    'total_bytes',
    'free_bytes',
    'process_bytes',
    'other_processes',
    'peak_bytes',
    'grown_bytes',
    'since_ms',
    'gpus',
    'pattern',
    'idle_gpus',
    'jobs',
    'mig_instance',
  ],
  chart: ['memory'],
  aboutProcessMemory: true,
})
