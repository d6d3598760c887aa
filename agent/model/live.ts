// The current state as the API and the live stream show it: plain JSON rows. A field that could not be read is absent, its reason is under `gaps`.
// Measures are named like their metric without `warpwatch_` and the subject (`warpwatch_gpu_power_watts` is `power_watts` of a GPU);
// a metric with further labels is an object by the value of that label (`clock_hertz: { sm, memory }`).

import type { IncidentMessage } from './incident.ts'
import type { Run } from './job.ts'

export type GapRow = { readonly measure: string; readonly reason: string; readonly code?: number; readonly detail?: string }

type Measures = { readonly [measure: string]: number | string | Readonly<Record<string, number>> | readonly GapRow[] | readonly MigRow[] | undefined }

/** An interface, as its measures and it know each other: the order in which files are read must not matter. */
export interface MigRow extends Measures {
  readonly gi: string
  readonly ci: string
  readonly memory_total_bytes?: number
  readonly memory_used_bytes?: number
}

export type GpuRow = Measures & {
  readonly uuid: string
  readonly index: number
  readonly name?: string
  readonly memory_total_bytes?: number
  readonly memory_used_bytes?: number
  readonly memory_used_peak_bytes?: number
  readonly memory_free_bytes?: number
  readonly memory_reserved_bytes?: number
  readonly memory_unattributed_bytes?: number
  readonly utilization_ratio?: number
  readonly power_watts?: number
  readonly power_limit_watts?: number
  readonly temperature_celsius?: number
  readonly memory_temperature_celsius?: number
  readonly fan_speed_ratio?: number
  readonly performance_state?: number
  readonly clock_hertz?: Readonly<Record<string, number>>
  /** 1 for each reason that slows the GPU right now, 0 for those that do not. */
  readonly throttle_active?: Readonly<Record<string, number>>
  readonly sample_age_seconds?: number
  /** Seconds until memory runs out if the trend goes on, by `pid_container` of the process that fails; the latter is absent where only the near end is known. */
  readonly memory_exhaustion_earliest_seconds?: Readonly<Record<string, number>>
  readonly memory_exhaustion_latest_seconds?: Readonly<Record<string, number>>
  readonly mig?: readonly MigRow[]
  readonly gaps?: readonly GapRow[]
}

export type ContainerRow = Measures & {
  readonly container_id: string
  readonly container: string
  readonly image?: string
  readonly compose_project?: string
  readonly compose_service?: string
  readonly namespace?: string
  readonly pod?: string
  readonly cpu_seconds_total?: number
  /** CPU seconds per second since the previous tick; absent in the first one. */
  readonly cpu_cores?: number
  readonly memory_bytes?: number
  readonly memory_limit_bytes?: number
  readonly oom_kills_total?: number
  /** Bytes of GPU memory by GPU UUID. */
  readonly gpu_memory_bytes?: Readonly<Record<string, number>>
  /** UUIDs of the GPUs that the container asked for or was given, joined by commas in the order of the host. */
  readonly gpus_requested?: string
  readonly gaps?: readonly GapRow[]
}

/** One process on one GPU (or MIG instance). */
export type ProcessRow = Measures & {
  readonly pid: number
  readonly process: string
  readonly uuid: string
  readonly gpu: string
  readonly gi?: string
  readonly ci?: string
  readonly gpu_memory_bytes?: number
  /** Its share of the time in which kernels ran on this GPU. */
  readonly gpu_utilization_ratio?: number
  /** The name on the host; in a container that of its image. */
  readonly user?: string
  readonly uid?: string
  /** Command line, secrets masked. */
  readonly command?: string
  readonly start_timestamp_seconds?: number
  readonly type?: string
  readonly inner_pid?: string
  readonly container?: string
  readonly container_id?: string
  readonly slurm_job?: string
  readonly unit?: string
  readonly gaps?: readonly GapRow[]
}

/** An inference server, as it says itself. */
export type ServerRow = Measures & {
  readonly name: string
  readonly server: string
  readonly container?: string
  /** Of the process that listens. */
  readonly pid?: number
  /** Indexes of the GPUs that its processes hold, joined by commas. */
  readonly gpu?: string
  readonly version?: string
  readonly model?: string
  readonly quantization?: string
  readonly context?: string
  readonly state?: string
  readonly url?: string
  /** Share of each GPU that it was told to take. */
  readonly memory_share?: string
  /** On the GPU and all: `40/41`. */
  readonly layers?: string
  readonly requests_running?: number
  readonly requests_waiting?: number
  readonly kv_cache_usage_ratio?: number
  readonly kv_cache_capacity_tokens?: number
  readonly preemptions_total?: number
  readonly prefix_cache_hit_ratio?: number
  readonly offloaded_ratio?: number
  /** A second, by type: prompt, generation. */
  readonly tokens_rate?: Readonly<Record<string, number>>
  readonly tokens_total?: Readonly<Record<string, number>>
  /** By outcome. */
  readonly requests_total?: Readonly<Record<string, number>>
  /** By quantile. */
  readonly time_to_first_token_seconds?: Readonly<Record<string, number>>
  readonly inter_token_latency_seconds?: Readonly<Record<string, number>>
  /** By part: weights, kv_cache, graphs, other. */
  readonly memory_bytes?: Readonly<Record<string, number>>
  readonly gaps?: readonly GapRow[]
}

/** What a job, or one of its ranks, says of its progress. */
export type ProgressRow = Measures & {
  readonly job: string
  readonly rank?: string
  readonly phase?: string
  readonly step?: number
  readonly steps?: number
  readonly progress_ratio?: number
  readonly epoch?: number
  readonly step_rate?: number
  readonly samples_rate?: number
  readonly tokens_rate?: number
  readonly loss?: number
  readonly learning_rate?: number
  readonly eta_seconds?: number
  readonly eta_earliest_seconds?: number
  readonly eta_latest_seconds?: number
  readonly last_progress_timestamp_seconds: number
  /** By the power limit in force. */
  readonly tokens_per_joule?: Readonly<Record<string, number>>
  readonly tokens_per_gpu_hour?: Readonly<Record<string, number>>
}

/** What the probe in a process says of its PyTorch allocator on one GPU (or MIG instance). */
export type AllocatorRow = Measures & {
  readonly pid: number
  readonly process: string
  readonly uuid: string
  readonly gpu: string
  readonly gi?: string
  readonly ci?: string
  readonly inner_pid?: string
  readonly container?: string
  readonly container_id?: string
  readonly allocated_bytes?: number
  readonly reserved_bytes?: number
  readonly active_bytes?: number
  readonly inactive_split_bytes?: number
  readonly requested_bytes?: number
  readonly retries_total?: number
  readonly ooms_total?: number
  /** U: what giving the cache back would not free. */
  readonly unreleasable_bytes?: number
  /** E: the largest request that can still be met. */
  readonly headroom_bytes?: number
  /** S*: what lay stranded after the last flush. */
  readonly stranded_ratio?: number
  readonly gaps?: readonly GapRow[]
}

export type HostRow = Measures & { readonly hostname: string; readonly gaps?: readonly GapRow[] }

export type HelloMessage = {
  readonly type: 'hello'
  readonly version: 1
  readonly host: string
  readonly gpus: readonly GpuRow[]
  readonly interval_ms: number
  readonly simulated: boolean
}
export type FrameMessage = {
  readonly type: 'frame'
  readonly t: number
  readonly gpus: readonly GpuRow[]
  readonly containers: readonly ContainerRow[]
  readonly processes: readonly ProcessRow[]
  readonly allocators: readonly AllocatorRow[]
  readonly servers: readonly ServerRow[]
  readonly host: HostRow
  readonly progress: readonly ProgressRow[]
  /** Runs that go on, and those that ended within the last minute. */
  readonly jobs: readonly Run[]
}
export type LiveMessage = HelloMessage | FrameMessage | IncidentMessage

/** `GET /api/v1/series`: one entry per series, all arrays of one length, null where there was no reading in the step. */
export type SeriesRow = {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly step_ms: number
  readonly t: readonly number[]
  readonly min: readonly (number | null)[]
  readonly mean: readonly (number | null)[]
  readonly max: readonly (number | null)[]
}
