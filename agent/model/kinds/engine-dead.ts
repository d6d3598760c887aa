// A server's port answers, and nobody computes behind it.
import { defineKind } from './kind.ts'

export const engineDead = defineKind({
  id: 'engine_dead',
  title: 'An inference server answers without an engine',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'pattern', 'requests_running'],
  quietMinutes: 30,
  follows: [
    {
      causes: ['xid', 'gpu_lost', 'cuda_oom', 'host_oom_kill', 'illegal_memory_access', 'nccl_error', 'cublas_cudnn_error', 'shm_exhausted'],
      on: 'either',
      withinMinutes: 10,
      lateMinutes: 2,
    },
  ],
  chart: ['memory'],
})
