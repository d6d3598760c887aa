// NCCL failed: a collective timed out or a rank died. Eleven minutes: PyTorch's default time-out of ten, and the line that reports it.
import { defineKind } from './kind.ts'

export const ncclError = defineKind({
  id: 'nccl_error',
  title: 'NCCL failed',
  layer: 'program',
  from: 'logs',
  facts: ['rank', 'timeout_ms', 'cuda_error_code', 'nccl_version'],
  crash: { rank: 14, echoesGpu: true },
  afterInText: ['cuda_oom', 'nvml_allocator_assert', 'host_oom_kill', 'disk_full', 'shm_exhausted', 'xid', 'gpu_lost', 'ecc_error', 'illegal_memory_access'],
  follows: [
    { causes: ['straggler_gpu'], on: 'either', withinMinutes: 11, lateMinutes: 2 },
    { causes: ['container_lost_gpu'], on: 'either', withinMinutes: 11, lateMinutes: 1 },
    {
      causes: ['nvlink_errors', 'gpu_missing', 'driver_hung', 'gpu_lost', 'xid', 'ecc_error', 'ecc_uncorrected'],
      on: 'either',
      withinMinutes: 11,
      lateMinutes: 1,
    },
    { causes: ['cuda_oom', 'host_oom_kill'], on: 'either', withinMinutes: 11, lateMinutes: 1 },
    { causes: ['throttling', 'power_brake', 'thermal_or_power', 'pcie_degraded', 'nvlink_errors'], on: 'gpu', withinMinutes: 11, lateMinutes: 2 },
  ],
  chart: ['utilization'],
})
