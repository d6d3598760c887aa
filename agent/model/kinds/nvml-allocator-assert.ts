// Out of GPU memory, hidden by an NVML assertion.
import { defineKind } from './kind.ts'

export const nvmlAllocatorAssert = defineKind({
  id: 'nvml_allocator_assert',
  title: 'Out of GPU memory, hidden by an NVML assertion',
  layer: 'gpu_memory',
  from: 'logs',
  facts: ['status', 'source_line'],
  // The assertion is an OOM in disguise: what it hides is reported beside it.
  crash: { rank: 4.5 },
  chart: ['memory'],
})
