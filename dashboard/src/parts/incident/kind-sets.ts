// Generated from agent/model/kinds by npm run generate, do not edit: the kinds that some views treat differently.
import type { IncidentKind } from '../../../../agent/model/kinds.ts'

/** It says that the GPU, or what is read of it, does not answer. */
export const GPU_UNREADABLE: ReadonlySet<IncidentKind> = new Set<IncidentKind>([
  'gpu_lost',
  'nvml_driver_mismatch',
  'driver_hung',
  'gpu_missing',
  'telemetry_stale',
])

/** It says that the GPU is held below its speed. */
export const GPU_SLOWED: ReadonlySet<IncidentKind> = new Set<IncidentKind>(['thermal_or_power', 'power_brake', 'throttling'])

/** It is about the GPU memory of one process. */
export const ABOUT_PROCESS_MEMORY: ReadonlySet<IncidentKind> = new Set<IncidentKind>([
  'cuda_oom',
  'allocator_retry_storm',
  'fragmentation_pressure',
  'memory_exhaustion_forecast',
  'memory_leak',
  'neighbour_pressure',
  'oom_restart_loop',
])
