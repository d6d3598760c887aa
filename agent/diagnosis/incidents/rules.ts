// The figures behind incidents: how long one stays open, what joins what, which fault of a crash is its root.
import type { Fault } from '../../model/fault.ts'
import { NUMBER_KINDS, type IncidentKind } from '../../model/incident.ts'

const MINUTE_MS = 60_000

/** Faults of one crash come within so long: the OOM, the other ranks' messages, the exit. */
export const CRASH_WINDOW_MS = 60_000
/** PyTorch's default NCCL time-out: so long after the first rank died the others say so. */
const NCCL_TIMEOUT_MS = 600_000
/** A kernel line, the engine's event and the counter tell of one kill within so long. */
export const SAME_KILL_MS = 5_000
/** The probe's word and the log's are of one failure when so close; a log is read a little later than the probe. */
export const SAME_OOM_MS = 10_000

/** Of hardware and driver: one such fault hits every program on its GPU. */
export const HARDWARE: ReadonlySet<IncidentKind> = new Set<IncidentKind>(['xid', 'gpu_lost', 'ecc_error'])
/** The same as detectors tell it. These stand for themselves, but a GPU that nobody can read has not become well. */
export const HARDWARE_NUMBERS: ReadonlySet<IncidentKind> = new Set<IncidentKind>([
  'ecc_uncorrected',
  'row_remap_failure',
  'throttling',
  'power_brake',
  'pcie_degraded',
  'nvlink_errors',
  'gpu_missing',
  'driver_hung',
  'telemetry_stale',
])
/** What a program says when its GPU had a hardware or driver fault. */
export const GPU_ECHOES: ReadonlySet<IncidentKind> = new Set<IncidentKind>([
  'xid',
  'gpu_lost',
  'ecc_error',
  'illegal_memory_access',
  'nccl_error',
  'cublas_cudnn_error',
  'nvml_unknown_error',
  'gpu_not_visible',
])
/** Faults that stand for themselves: that one came with a crash does not make it the crash's consequence. */
const NOTES: ReadonlySet<IncidentKind> = new Set<IncidentKind>([
  ...NUMBER_KINDS,
  'hub_rate_limited',
  'cache_permission',
  'precision_fallback',
  'thermal_or_power',
])

/**
 * A log says when something fails, never when it is well again. So an incident from a log resolves after so long without the same fault
 * while the agent went on sampling: long enough that a container in a restart loop stays one incident, and longer for what needs a hand on the machine.
 */
export const quietMs = (kind: IncidentKind): number => (QUIET_MINUTES[kind] ?? 15) * MINUTE_MS
const QUIET_MINUTES: Readonly<Partial<Record<IncidentKind, number>>> = {
  xid: 60,
  gpu_lost: 60,
  ecc_error: 60,
  nvml_driver_mismatch: 30,
  gpu_not_visible: 30,
  cuda_version_mismatch: 30,
  cuda_library_missing: 30,
  disk_full: 30,
  // What the detectors hold resolves by their word. This is for incidents from before a restart of which they cannot tell: errors that were counted before.
  ecc_uncorrected: 24 * 60,
  row_remap_failure: 24 * 60,
  pcie_degraded: 24 * 60,
  nvlink_errors: 24 * 60,
  gpu_missing: 24 * 60,
  driver_hung: 24 * 60,
  telemetry_stale: 24 * 60,
  container_lost_gpu: 24 * 60,
  // Their detectors need so long themselves before they can say it again.
  idle_gpu_held: 60,
  unattributed_memory: 30,
  input_bound: 30,
  straggler_gpu: 30,
  precision_fallback: 10,
  batch_halving: 10,
  hub_rate_limited: 10,
}

/** How long after the last fault of a crash this one still belongs to it. */
export function joinWindowMs(fault: Fault<IncidentKind>): number {
  return fault.kind === 'nccl_error' ? (fault.facts.timeout_ms ?? NCCL_TIMEOUT_MS) + CRASH_WINDOW_MS : CRASH_WINDOW_MS
}

/** Kinds that logs tell and that a detector holds: their incident ends when the detector says so. */
export const HELD_LOG_KINDS: ReadonlySet<IncidentKind> = new Set<IncidentKind>(['xid', 'nvml_driver_mismatch'])
/** What a detector finds looks for no crash, but these do. */
export const JOINING_FINDINGS: ReadonlySet<IncidentKind> = new Set<IncidentKind>([...HELD_LOG_KINDS, 'container_lost_gpu'])
/** What programs in a container say when its access to a GPU was taken away. */
const LOST_ACCESS_ECHOES: ReadonlySet<IncidentKind> = new Set<IncidentKind>(['nvml_unknown_error', 'gpu_not_visible'])
/** The loss and its echoes are one story, whichever came first. */
const isLostAccess = (kind: IncidentKind, others: readonly IncidentKind[]): boolean =>
  kind === 'container_lost_gpu' ? others.some((other) => LOST_ACCESS_ECHOES.has(other)) : LOST_ACCESS_ECHOES.has(kind) && others.includes('container_lost_gpu')

/** Whether a fault can be a part of a crash with others: equal kinds always, notes only with themselves. */
export const canJoin = (kind: IncidentKind, others: readonly IncidentKind[]): boolean =>
  others.includes(kind) || isLostAccess(kind, others) || (!NOTES.has(kind) && !others.every((other) => NOTES.has(other)))

/** The lower the nearer to the cause: what the hardware and the system say comes before what a program makes of it. */
const RANK: Readonly<Partial<Record<IncidentKind, number>>> = {
  gpu_lost: 0,
  ecc_error: 1,
  nvml_driver_mismatch: 2,
  disk_full: 3,
  shm_exhausted: 3,
  host_oom_kill: 4,
  // The assert is an OOM in disguise: what it hides is told beside it.
  nvml_allocator_assert: 4.5,
  cuda_oom: 5,
  xid: 6,
  container_lost_gpu: 7,
  allocator_internal: 8,
  gpu_not_visible: 9,
  cuda_version_mismatch: 9,
  cuda_library_missing: 9,
  bitsandbytes_setup: 10,
  illegal_memory_access: 11,
  nvml_unknown_error: 12,
  cublas_cudnn_error: 13,
  nccl_error: 14,
  thermal_or_power: 15,
  cache_permission: 16,
  hub_rate_limited: 17,
  batch_halving: 18,
  precision_fallback: 19,
}
/** Xids that follow from another error: preemptive clean-ups and channel tear-downs (NVIDIA's Xid catalogue calls 43, 45, 109 and 154 such). */
const FOLLOWING_XIDS: ReadonlySet<number> = new Set([43, 45, 109, 154])
/** The GPU is off the bus, or needs a reset: nothing a program says is nearer to the cause. */
const DECISIVE_XIDS: ReadonlySet<number> = new Set([48, 62, 64, 74, 79, 92, 94, 95, 119, 120, 140])

/** Of the board, not of a program that runs on it. */
export const isDecisiveXid = (xid: number | undefined): boolean => xid !== undefined && DECISIVE_XIDS.has(xid)

export function rootRank({ kind, facts: { xid } }: Fault<IncidentKind>): number {
  if (kind === 'xid' && xid !== undefined) {
    if (DECISIVE_XIDS.has(xid)) return 0.5
    return FOLLOWING_XIDS.has(xid) ? 12.5 : 6
  }
  return RANK[kind] ?? 10
}
