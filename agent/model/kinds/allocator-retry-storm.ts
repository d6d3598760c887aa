// PyTorch flushes its memory cache again and again.
import { defineKind } from './kind.ts'

export const allocatorRetryStorm = defineKind({
  id: 'allocator_retry_storm',
  title: 'PyTorch flushes its memory cache again and again',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: ['reserved_bytes', 'stranded_bytes', 'retries', 'retries_per_minute', 'since_ms'],
  follows: [{ causes: ['fragmentation_pressure', 'neighbour_pressure'], on: 'either', withinMinutes: 5, lateMinutes: 1 }],
  chart: ['memory'],
  aboutProcessMemory: true,
})
