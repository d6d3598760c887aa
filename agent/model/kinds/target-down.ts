// A service beside the GPU is down.
import { defineKind } from './kind.ts'

export const targetDown = defineKind({
  id: 'target_down',
  title: 'A service beside the GPU is down',
  layer: 'telemetry',
  from: 'numbers',
  facts: ['target', 'reason', 'failed_checks', 'latency_ms', 'http_status', 'since_ms'],
  follows: [
    { causes: ['container_lost_gpu', 'gpu_missing', 'driver_hung', 'gpu_lost', 'xid'], on: 'either', withinMinutes: 10, lateMinutes: 1 },
    {
      causes: ['cuda_oom', 'host_oom_kill', 'shm_exhausted', 'illegal_memory_access', 'nccl_error', 'cublas_cudnn_error', 'oom_restart_loop', 'disk_full'],
      on: 'either',
      withinMinutes: 5,
      lateMinutes: 1,
    },
  ],
  chart: ['utilization'],
})
