// A MIG instance is full, and the memory that is free is in other instances.
import { defineKind } from './kind.ts'

export const migFull = defineKind({
  id: 'mig_full',
  title: 'MIG instance full while the card has free memory',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: ['mig_instance', 'used_bytes', 'total_bytes', 'free_bytes', 'retries', 'jobs'],
  chart: ['memory'],
})
