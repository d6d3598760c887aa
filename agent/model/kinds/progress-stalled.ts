// A job goes on running and its steps stand still.
import { defineKind } from './kind.ts'

export const progressStalled = defineKind({
  id: 'progress_stalled',
  title: 'A job makes no progress',
  layer: 'usage',
  from: 'numbers',
  facts: ['job', 'stalled_at_step', 'idle_seconds', 'usual_gap_seconds', 'since_ms', 'stands_at', 'confidence', 'gpus'],
  follows: [{ causes: ['job_hang', 'nccl_error', 'xid', 'gpu_lost', 'driver_hung', 'disk_full'], on: 'either', withinMinutes: 30, lateMinutes: 5 }],
  chart: ['utilization'],
})
