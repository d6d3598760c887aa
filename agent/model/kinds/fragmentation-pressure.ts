// GPU memory lost to fragmentation.
import { defineKind } from './kind.ts'

export const fragmentationPressure = defineKind({
  id: 'fragmentation_pressure',
  title: 'GPU memory lost to fragmentation',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: ['reserved_bytes', 'stranded_bytes', 'stranded_ratio', 'limit_bytes', 'total_bytes', 'free_bytes', 'retries', 'reserved_unallocated_bytes'],
  chart: ['memory'],
  aboutProcessMemory: true,
})
