// A distributed job does not move, and which rank holds it up is known.
import { defineKind } from './kind.ts'

export const jobHang = defineKind({
  id: 'job_hang',
  title: 'A job hangs',
  layer: 'program',
  from: 'numbers',
  facts: ['job', 'hang_cause', 'culprit_ranks', 'waits_in', 'stands_at', 'call_sites', 'confidence', 'gpus', 'since_ms', 'ranks'],
  quietMinutes: 30,
  follows: [
    {
      causes: ['driver_hung', 'gpu_lost', 'xid', 'nvlink_errors', 'container_lost_gpu', 'host_oom_kill'],
      on: 'either',
      withinMinutes: 15,
      lateMinutes: 2,
    },
  ],
  chart: ['power', 'utilization'],
})
