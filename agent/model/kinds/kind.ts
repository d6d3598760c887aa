// What a kind of incident is: declared once, in a file of its own, from which every table keyed by kind is derived (../kinds.ts).
import type { COMMON_FACTS, FactName } from '../facts.ts'

/** What of the host the fault is in. */
type Layer = 'gpu' | 'gpu_memory' | 'program' | 'platform' | 'host' | 'network' | 'usage' | 'telemetry' | 'user'

/** `gpu`: on the same GPU only; `either`: the same GPU or container; `host`: anywhere on the host. */
export type Nearness = 'gpu' | 'either' | 'host'

/** What may have led to an incident of this kind. Names are checked in ../kinds.ts, since kinds name each other. */
type Follows = {
  readonly causes: readonly string[]
  readonly on: Nearness
  /** The effect begins at most this long after the cause was last seen. */
  readonly withinMinutes: number
  /** A detector needs time to be sure: the cause may fire this long after its effect. */
  readonly lateMinutes: number
}

/** The role of the kind when several faults come within one crash. */
type Crash = {
  /** Distance from the cause, 10 where nothing is said: what hardware and system report comes before what a program makes of it. */
  readonly rank?: number
  /** It stays an incident of its own, whatever happens beside it. Kinds from numbers always do, unless they say `joins`. */
  readonly alone?: true
  /** A finding of a detector that is part of a crash. */
  readonly joins?: true
  /** `false`: a container that ends soon after did not end because of it. Kinds from numbers are never fatal. */
  readonly fatal?: false
  /** It hits every program on its GPU: the `echoesGpu` faults of all containers there belong to it. */
  readonly hitsWholeGpu?: true
  /** What a program prints when its GPU had a hardware or driver fault. */
  readonly echoesGpu?: true
  /** What programs print when this happened to their container. */
  readonly echoOf?: string
  /** Logs show it too, but a detector says when it is over. */
  readonly heldByDetector?: true
}

/** After an operator has marked it as resolved, the same condition is a new incident only when one of these facts changed so. */
export type NewWhen<Fact extends string = FactName> = {
  readonly above?: readonly Fact[]
  readonly below?: readonly Fact[]
  readonly other?: readonly Fact[]
  /** A list with a member more. */
  readonly more?: readonly Fact[]
}

/** Series that show it best, for the line of a message; the first that was read is drawn. */
export type Chart = 'memory' | 'utilization' | 'temperature' | 'power' | 'sm_clock' | 'container_memory' | 'host_memory' | 'shm'

export type KindShape = {
  /** The public name. */
  readonly id: string
  /** Title of its runbook and of its Prometheus alert. */
  readonly title: string
  readonly layer: Layer
  /** Who can see it: a log, the detectors, or both. */
  readonly from: 'logs' | 'numbers' | 'both'
  /** The facts that it may carry beside `COMMON_FACTS`. */
  readonly facts: readonly FactName[]
  /**
   * A log says when something fails, never when it is well again: the incident resolves after so long (15 minutes where nothing is said) without the same
   * fault, while the agent sampled. Long enough that a container in a restart loop stays one incident; longer for what needs a hand on the machine. For
   * what a detector holds this counts only after a restart of the agent, when the detector cannot know what was counted before.
   */
  readonly quietMinutes?: number
  readonly crash?: Crash
  /** It does not resolve while its GPU cannot be read. */
  readonly needsReading?: true
  /** It happens to the card itself: a program's own Xid does not explain it. */
  readonly ofCard?: true
  /** In one text it follows from these, wherever their lines are: ranks that wait for a dead one print last. */
  readonly afterInText?: readonly string[]
  /** The nearest cause first. No kind may lead to itself, not even over others (a test holds it). */
  readonly follows?: readonly Follows[]
  /** Its sign stays after a repair (counters, flags until a reset). Without it the incident fires again while it is seen. */
  readonly newWhen?: NewWhen
  readonly chart?: readonly Chart[]
  /** The program got round the error: on one line with the error itself, this is what happened. */
  readonly handled?: true
  /** What it says about the state of its GPU, so that the page does not say it twice. */
  readonly gpuState?: 'unreadable' | 'slowed'
  /** It is about the GPU memory of one process. */
  readonly aboutProcessMemory?: true
}

/** What hardware, memory and the platform report: in one text it comes before every way in which a job ends because of it. */
export const BEFORE_ENDS = [
  'xid',
  'gpu_lost',
  'ecc_error',
  'host_oom_kill',
  'cuda_oom',
  'nvml_allocator_assert',
  'allocator_internal',
  'shm_exhausted',
  'disk_full',
  'illegal_memory_access',
  'cublas_cudnn_error',
  'gpu_not_visible',
  'cuda_library_missing',
  'cuda_version_mismatch',
  'bitsandbytes_setup',
  'nvml_driver_mismatch',
  'nvml_unknown_error',
  'cuda_fork',
  'fd_limit',
  'gpu_reset',
  'gpu_page_fault',
  'gpu_busy',
  'fabric_manager',
] as const

type Allowed<Shape extends KindShape> = Shape['facts'][number] | (typeof COMMON_FACTS)[number]

/** Keeps the literal types, so that a fact that the kind does not carry fails to compile. */
export function defineKind<const Shape extends KindShape>(shape: Shape & { readonly newWhen?: NewWhen<Allowed<Shape>> }): Shape {
  return shape
}
