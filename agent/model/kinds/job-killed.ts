// A process was killed by SIGKILL.
import { defineKind } from './kind.ts'

export const jobKilled = defineKind({
  id: 'job_killed',
  title: 'A process was killed by SIGKILL',
  layer: 'program',
  from: 'logs',
  facts: ['signal', 'rank'],
  quietMinutes: 15,
  crash: { rank: 12 },
  afterInText: [
    'host_oom_kill',
    'cuda_oom',
    'nvml_allocator_assert',
    'disk_full',
    'shm_exhausted',
    'xid',
    'gpu_lost',
    'illegal_memory_access',
    'ecc_error',
    'nccl_error',
  ],
})
