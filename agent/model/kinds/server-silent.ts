// An inference server takes connections and answers none of them.
import { defineKind } from './kind.ts'

export const serverSilent = defineKind({
  id: 'server_silent',
  title: 'An inference server no longer answers',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'utilization_ratio'],
  quietMinutes: 30,
  follows: [
    {
      causes: ['xid', 'gpu_lost', 'driver_hung', 'cuda_oom', 'nccl_error', 'host_exhausted'],
      on: 'either',
      withinMinutes: 10,
      lateMinutes: 2,
    },
  ],
  chart: ['utilization'],
})
