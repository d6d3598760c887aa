// Which incident led to which: a table of what follows from what, and the cause that fits best by GPU, container and time. Pure.
import type { IncidentKind } from '../../model/incident.ts'

/** What of an incident decides where it belongs. */
export type StoryPart = {
  readonly id: string
  readonly kind: IncidentKind
  /** An Xid that is a program's own, which explains nothing about the card. */
  readonly programXid: boolean
  readonly gpus: ReadonlySet<string>
  /** Containers, as crashes know them. */
  readonly containers: ReadonlySet<string>
  /** Unix ms. */
  readonly startedAt: number
  readonly lastSeenAt: number
}

/** `gpu`: only on the same card; `either`: the same card or container; `host`: anywhere on the host. */
type Nearness = 'gpu' | 'either' | 'host'
type Rule = {
  readonly causes: readonly IncidentKind[]
  readonly on: Nearness
  /** The effect begins at the latest so long after the cause was last seen. */
  readonly withinMs: number
  /** A cause that a detector finds only when it has lasted may be told so long after its effect. */
  readonly lateMs: number
}

const MINUTE_MS = 60_000
const rule = (causes: readonly IncidentKind[], on: Nearness, withinMinutes: number, lateMinutes: number): Rule => ({
  causes,
  on,
  withinMs: withinMinutes * MINUTE_MS,
  lateMs: lateMinutes * MINUTE_MS,
})

const SLOWED: readonly IncidentKind[] = ['throttling', 'power_brake', 'thermal_or_power', 'pcie_degraded', 'nvlink_errors']
const CARD_GONE: readonly IncidentKind[] = ['gpu_missing', 'driver_hung', 'gpu_lost', 'xid']
const DIED: readonly IncidentKind[] = ['cuda_oom', 'host_oom_kill', 'shm_exhausted', 'illegal_memory_access', 'nccl_error', 'cublas_cudnn_error']

/** For each kind what may have led to it, the nearest first. 11 minutes: PyTorch's NCCL time-out of ten, and the line that tells it. No kind leads to itself, not even over others (a test holds it). */
export const FOLLOWS: Readonly<Partial<Record<IncidentKind, readonly Rule[]>>> = {
  throttling: [rule(['power_brake', 'thermal_or_power'], 'gpu', 2, 2)],
  straggler_gpu: [rule(SLOWED, 'gpu', 10, 2)],
  nccl_error: [
    rule(['straggler_gpu'], 'either', 11, 2),
    rule(['container_lost_gpu'], 'either', 11, 1),
    rule(['nvlink_errors', ...CARD_GONE, 'ecc_error', 'ecc_uncorrected'], 'either', 11, 1),
    rule(['cuda_oom', 'host_oom_kill'], 'either', 11, 1),
    rule(SLOWED, 'gpu', 11, 2),
  ],
  // The driver's Xid tells of the error that the counters show.
  xid: [rule(['ecc_uncorrected', 'nvlink_errors'], 'gpu', 1, 1)],
  ecc_error: [rule(['xid', 'ecc_uncorrected'], 'gpu', 2, 1)],
  row_remap_failure: [rule(['xid', 'ecc_error', 'ecc_uncorrected'], 'gpu', 10, 1)],
  gpu_lost: [rule(['xid', 'power_brake'], 'gpu', 5, 1)],
  driver_hung: [rule(['gpu_lost', 'xid'], 'gpu', 5, 1)],
  gpu_missing: [rule(['driver_hung', 'gpu_lost', 'xid'], 'gpu', 10, 1), rule(['nvml_driver_mismatch'], 'host', 10, 1)],
  telemetry_stale: [rule(['gpu_missing', 'driver_hung', 'gpu_lost', 'xid'], 'gpu', 10, 1), rule(['nvml_driver_mismatch'], 'host', 10, 1)],
  container_lost_gpu: [rule(CARD_GONE, 'gpu', 10, 2)],
  target_down: [rule(['container_lost_gpu', ...CARD_GONE], 'either', 10, 1), rule([...DIED, 'oom_restart_loop', 'disk_full'], 'either', 5, 1)],
  memory_exhaustion_forecast: [rule(['memory_leak'], 'either', 30, 5)],
  allocator_retry_storm: [rule(['fragmentation_pressure', 'neighbour_pressure'], 'either', 5, 1)],
  cuda_oom: [
    rule(['allocator_retry_storm', 'fragmentation_pressure', 'neighbour_pressure', 'memory_exhaustion_forecast', 'memory_leak'], 'either', 5, 0),
    rule(['unattributed_memory'], 'gpu', 5, 0),
  ],
  oom_restart_loop: [rule(['cuda_oom', 'host_oom_kill'], 'either', 10, 0)],
  // A job that waits for the others in a collective that never ends holds its memory and does nothing.
  idle_gpu_held: [rule(['nccl_error', 'container_lost_gpu'], 'either', 60, 0)],
}

/** What happens to the card itself. */
const CARD: ReadonlySet<IncidentKind> = new Set<IncidentKind>([
  'xid',
  'ecc_error',
  'row_remap_failure',
  'gpu_lost',
  'driver_hung',
  'gpu_missing',
  'telemetry_stale',
  'container_lost_gpu',
])

const overlap = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => {
  for (const each of a) if (b.has(each)) return true
  return false
}
const near = (on: Nearness, a: StoryPart, b: StoryPart): boolean =>
  on === 'host' || overlap(a.gpus, b.gpus) || (on === 'either' && overlap(a.containers, b.containers))

const fits = ({ on, withinMs, lateMs }: Rule, cause: StoryPart, effect: StoryPart): boolean =>
  cause.id !== effect.id && effect.startedAt >= cause.startedAt - lateMs && effect.startedAt <= cause.lastSeenAt + withinMs && near(on, cause, effect)

/** What led to `effect`, among what is known: the nearest kind, of that the newest. */
export function causeOf(effect: StoryPart, known: readonly StoryPart[]): StoryPart | undefined {
  if (effect.programXid) return undefined
  for (const each of FOLLOWS[effect.kind] ?? []) {
    for (const kind of each.causes) {
      let best: StoryPart | undefined
      for (const cause of known) {
        if (cause.kind !== kind || (cause.programXid && CARD.has(effect.kind)) || !fits(each, cause, effect)) continue
        if (best === undefined || cause.startedAt > best.startedAt || (cause.startedAt === best.startedAt && cause.id < best.id)) best = cause
      }
      if (best !== undefined) return best
    }
  }
  return undefined
}
