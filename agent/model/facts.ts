// The figures and names that a fault can carry: one dictionary of names, types and units for all kinds.

/** Why a request for GPU memory failed; each alone would have let it succeed. */
export const OOM_CAUSES = ['capacity', 'fragmentation', 'other_process', 'fraction_cap', 'oversized_request', 'private_pools', 'non_pytorch_memory'] as const
export type OomCause = (typeof OOM_CAUSES)[number]

/** One rank of a job that does not move; what is not known is absent. */
export type HangRank = {
  readonly rank: number
  readonly culprit?: true | undefined
  /** The host's number of its GPU. */
  readonly gpu?: string | undefined
  readonly host?: string | undefined
  /** It runs on another host than the agent that tells it: its GPU and process are numbers of that host. */
  readonly elsewhere?: true | undefined
  readonly container?: string | undefined
  readonly pid?: number | undefined
  /** The collective, or what it waits for in words. */
  readonly waits_for?: string | undefined
  readonly since_ms?: number | undefined
  /** `/job/data.py:71 next_batch`, of the user's own code. */
  readonly stands_at?: string | undefined
  /** How far it has come in the collectives in which ranks wait: by their names, `waits`, `not joined`, `done` … */
  readonly calls?: Readonly<Record<string, string>> | undefined
}

/** Every fact by name. Units are in the names: bytes, milliseconds, seconds. */
type FactTypes = {
  readonly gpu_index: number
  readonly requested_bytes: number
  readonly total_bytes: number
  readonly free_bytes: number
  readonly allocated_bytes: number
  readonly reserved_bytes: number
  readonly reserved_unallocated_bytes: number
  readonly private_pools_bytes: number
  readonly allowed_bytes: number
  readonly process_bytes: number
  readonly other_processes: readonly { readonly pid?: number; readonly bytes: number }[]
  readonly causes: readonly OomCause[]
  readonly pid: number
  readonly process: string
  readonly xid: number
  readonly sxid: number
  /** The driver itself names this earlier Xid as the cause. */
  readonly caused_by_xid: number
  readonly pci_bus_id: string
  readonly library: string
  readonly exit_code: number
  readonly errno: number
  readonly path: string
  readonly rank: number
  readonly timeout_ms: number
  readonly limit_bytes: number
  readonly anon_rss_bytes: number
  readonly total_vm_bytes: number
  readonly client_version: string
  readonly kernel_version: string
  readonly library_version: string
  readonly cuda_error_code: number
  readonly status: string
  readonly http_status: number
  readonly port: number
  /** Python module. */
  readonly module: string
  /** SIGKILL and its like. */
  readonly signal: string
  /** What was raised, without its module. */
  readonly exception: string
  /** The deepest of the user's own code: `train.py:188`. */
  readonly frame: string
  /** Of the scheduler. */
  readonly job_id: number
  /** Two types that do not fit, in the program's words. */
  readonly expected: string
  readonly found: string
  /** The first step with the fault. */
  readonly step: number
  readonly retry_after_s: number
  readonly from: string
  readonly to: string
  readonly batch_from: number
  readonly batch_to: number
  /** From the numbers: bytes that the allocator can neither use nor give back, and their share of what the process can use. */
  readonly stranded_bytes: number
  readonly stranded_ratio: number
  /** Flushes of the allocator's whole cache in the time looked at, and how many in a minute. */
  readonly retries: number
  readonly retries_per_minute: number
  /** Processes of the subject that ended because memory ran out, and the most that one of them held. */
  readonly deaths: number
  readonly peak_bytes: number
  /** By how much it (or what others hold) grew since `since_ms`. */
  readonly grown_bytes: number
  readonly since_ms: number
  /** Of a trend: how fast, what is left above the highest peak, from when to when that is used up, and what it is that grows. */
  readonly slope_bytes_per_second: number
  readonly headroom_bytes: number
  readonly unreleasable_bytes: number
  readonly earliest_ms: number
  readonly latest_ms: number
  readonly grows: string
  readonly source_line: string
  readonly nccl_version: string
  readonly active_reasons: readonly string[]
  /** Of the GPUs that a crash held, since its job's last saved state or its first sight. */
  readonly gpu_seconds_lost: number
  /** Who works on the card that a fault of the hardware hit, in words. */
  readonly affected: readonly string[]
  readonly temperature_celsius: number
  readonly temperature_limit_celsius: number
  readonly memory_temperature_celsius: number
  readonly memory_temperature_limit_celsius: number
  readonly power_watts: number
  readonly power_limit_watts: number
  readonly power_limit_default_watts: number
  readonly sm_clock_hertz: number
  readonly sm_clock_before_hertz: number
  readonly sm_clock_max_hertz: number
  /** Share of the speed that is lost, 0 to 1. */
  readonly speed_loss_ratio: number
  readonly new_errors: number
  readonly ecc_uncorrected_volatile: number
  readonly ecc_uncorrected_aggregate: number
  readonly remapped_rows: number
  readonly retired_pages: number
  /** In the words of the driver, such as `GPU reset`. */
  readonly recovery_action: string
  readonly pcie_generation: number
  readonly pcie_generation_max: number
  readonly pcie_width: number
  readonly pcie_width_max: number
  /** Share of the link's bandwidth that is lost, 0 to 1. */
  readonly bandwidth_loss_ratio: number
  readonly pcie_replays_per_minute: number
  /** Numbers of the NVLinks that are down. */
  readonly links_down: readonly string[]
  readonly links_total: number
  /** GPUs that the driver lists, and that there should be. */
  readonly gpus_present: number
  readonly gpus_expected: number
  /** Numbers of the GPUs that a container cannot reach any more. */
  readonly gpus_lost: readonly string[]
  /** How old the newest reading is, the native call that does not return, and how often that was seen. */
  readonly sample_age_seconds: number
  readonly function: string
  readonly hangs: number
  /** The source of readings that is silent. */
  readonly source: string
  readonly error_types: readonly string[]
  /** Which of several patterns of one kind it is, such as `two_jobs_on_one_gpu`. */
  readonly pattern: string
  /** Memory of a GPU that no living process holds, and who held it last in words. */
  readonly unattributed_bytes: number
  readonly used_bytes: number
  /** `nobody`, or `hidden`: a process that the agent or the driver cannot name. */
  readonly holder: string
  readonly left_by: string
  /** How long a GPU has done nothing while its memory is held. */
  readonly idle_seconds: number
  /** Mean of the time looked at, and the share of its seconds in which the GPU did next to nothing, 0 to 1. */
  readonly utilization_ratio: number
  readonly low_ratio: number
  readonly drops_per_minute: number
  /** What holds the input back, as text: `CPU limit of the container`, `disk nvme0n1`. */
  readonly bottlenecks: readonly string[]
  /** The host's numbers of the GPUs that it is about, and of those that stand idle meanwhile. */
  readonly gpus: readonly string[]
  readonly idle_gpus: readonly string[]
  /** The jobs that it is about, in words. */
  readonly jobs: readonly string[]
  /** The job, as it is named in its metrics. */
  readonly job: string
  readonly slow_from_step: number
  /** How many times as long a step takes as before. */
  readonly slowdown_factor: number
  readonly step_seconds: number
  readonly step_seconds_before: number
  readonly stalled_at_step: number
  /** The longest pause of the job before. */
  readonly usual_gap_seconds: number
  /** Of a hang: `missing`, `mismatch`, `dead` and the like; the ranks that hold it up; the collective that the others wait in. */
  readonly hang_cause: string
  readonly culprit_ranks: readonly string[]
  readonly waits_in: string
  /** Where these ranks stand: `rank 3: /job/data.py:71 next_batch`; both sides of a disagreement; `read`, `computed` or `likely`. */
  readonly stands_at: readonly string[]
  readonly call_sites: readonly string[]
  /** Each rank that was found, the culprits first. */
  readonly ranks: readonly HangRank[]
  readonly confidence: string
  /** Medians of the other GPUs of the same job. */
  readonly sm_clock_peers_hertz: number
  readonly temperature_peers_celsius: number
  readonly power_peers_watts: number
  /** CPU cores in use, mean of the time looked at. */
  readonly cpu_cores: number
  readonly mig_instance: string
  /** A service whose health is asked, why that fails, and how often it did without a break. */
  readonly target: string
  /** An inference server, as it is named in its metrics. */
  readonly server: string
  readonly kv_cache_usage_ratio: number
  /** The highest of the time looked at. */
  readonly kv_cache_peak_ratio: number
  readonly kv_cache_tokens: number
  readonly context_tokens: number
  readonly longest_request_tokens: number
  readonly kv_cache_bytes: number
  readonly unused_bytes: number
  readonly requests_waiting: number
  readonly requests_running: number
  readonly preemptions_per_minute: number
  /** Share of a model that is in host memory, and how many of its layers are on the GPU: `40/41`. */
  readonly offloaded_ratio: number
  readonly layers: string
  readonly missing_bytes: number
  readonly reason: string
  readonly failed_checks: number
  readonly latency_ms: number
  /** A threshold of the user's own: its name, the metric and the series that passed it, how far, and the bound. */
  readonly name: string
  readonly metric: string
  readonly series: string
  readonly value: number
  readonly threshold: number
}

export type FactName = keyof FactTypes
/** What the text or the numbers state; what they do not state is absent. */
export type Facts = { readonly [Name in FactName]?: FactTypes[Name] }

/** Facts of any kind: who was hit, how its process ended, and what the agent itself adds to an incident. */
export const COMMON_FACTS = [
  'gpu_index',
  'pid',
  'process',
  'exit_code',
  'signal',
  'exception',
  'frame',
  'rank',
  'job_id',
  'errno',
  'gpu_seconds_lost',
  'affected',
] as const satisfies readonly FactName[]

/** What a fault is about beside GPU, container and process: two faults of a kind that differ in this are two. */
export const namedBy = ({ target, job, server, name, series }: Facts): string | undefined =>
  target ?? job ?? server ?? (series === undefined ? undefined : `${name} ${series}`)
