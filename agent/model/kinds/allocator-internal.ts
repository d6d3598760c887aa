// Internal error in PyTorch's allocator.
import { defineKind } from './kind.ts'

export const allocatorInternal = defineKind({
  id: 'allocator_internal',
  title: "Internal error in PyTorch's allocator",
  layer: 'gpu_memory',
  from: 'logs',
  facts: ['source_line'],
  crash: { rank: 8 },
  afterInText: ['illegal_memory_access', 'xid', 'gpu_lost'],
  chart: ['memory'],
})
