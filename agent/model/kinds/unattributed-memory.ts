// GPU memory that no running process holds.
import { defineKind } from './kind.ts'

export const unattributedMemory = defineKind({
  id: 'unattributed_memory',
  title: 'GPU memory that no running process holds',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: ['total_bytes', 'unattributed_bytes', 'used_bytes', 'holder', 'left_by', 'since_ms', 'pattern'],
  quietMinutes: 30,
  chart: ['memory'],
})
