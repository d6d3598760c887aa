// GPU out of memory.
import { defineKind } from './kind.ts'

export const cudaOom = defineKind({
  id: 'cuda_oom',
  title: 'GPU out of memory',
  layer: 'gpu_memory',
  from: 'logs',
  facts: [
    'requested_bytes',
    'total_bytes',
    'free_bytes',
    'allocated_bytes',
    'reserved_bytes',
    'reserved_unallocated_bytes',
    'private_pools_bytes',
    'allowed_bytes',
    'process_bytes',
    'other_processes',
    'causes',
    'limit_bytes',
    'peak_bytes',
    'grown_bytes',
    'since_ms',
    'stranded_bytes',
  ],
  crash: { rank: 5 },
  afterInText: ['nvml_allocator_assert'],
  follows: [
    {
      causes: ['allocator_retry_storm', 'fragmentation_pressure', 'neighbour_pressure', 'memory_exhaustion_forecast', 'memory_leak'],
      on: 'either',
      withinMinutes: 5,
      lateMinutes: 0,
    },
    { causes: ['unattributed_memory'], on: 'gpu', withinMinutes: 5, lateMinutes: 0 },
  ],
  chart: ['memory'],
  aboutProcessMemory: true,
})
