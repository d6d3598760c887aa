// What went wrong, as a log line or the numbers tell it: kind, figures, one verdict, what to change.

/** Kinds that a log can tell; names are public. */
export const LOG_KINDS = [
  'cuda_oom',
  'nvml_allocator_assert',
  'allocator_internal',
  'host_oom_kill',
  'shm_exhausted',
  'disk_full',
  'nvml_driver_mismatch',
  'nvml_unknown_error',
  'gpu_not_visible',
  'cuda_version_mismatch',
  'cuda_library_missing',
  'bitsandbytes_setup',
  'xid',
  'gpu_lost',
  'illegal_memory_access',
  'ecc_error',
  'nccl_error',
  'cublas_cudnn_error',
  'hub_rate_limited',
  'cache_permission',
  'thermal_or_power',
  'precision_fallback',
  'batch_halving',
] as const
export type LogKind = (typeof LOG_KINDS)[number]

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Why a request for GPU memory failed; each alone would have let it succeed. */
export const OOM_CAUSES = ['capacity', 'fragmentation', 'other_process', 'fraction_cap', 'oversized_request', 'private_pools', 'non_pytorch_memory'] as const
export type OomCause = (typeof OOM_CAUSES)[number]

/** Figures that the text or the numbers state; what they do not state is absent. Bytes, milliseconds, seconds as named. */
export type Facts = {
  readonly gpu_index?: number
  readonly requested_bytes?: number
  readonly total_bytes?: number
  readonly free_bytes?: number
  readonly allocated_bytes?: number
  readonly reserved_bytes?: number
  readonly reserved_unallocated_bytes?: number
  readonly private_pools_bytes?: number
  readonly allowed_bytes?: number
  readonly process_bytes?: number
  readonly other_processes?: readonly { readonly pid?: number; readonly bytes: number }[]
  readonly causes?: readonly OomCause[]
  readonly pid?: number
  readonly process?: string
  readonly xid?: number
  readonly sxid?: number
  readonly pci_bus_id?: string
  readonly library?: string
  readonly exit_code?: number
  readonly errno?: number
  readonly path?: string
  readonly rank?: number
  readonly timeout_ms?: number
  readonly limit_bytes?: number
  readonly anon_rss_bytes?: number
  readonly total_vm_bytes?: number
  readonly client_version?: string
  readonly kernel_version?: string
  readonly library_version?: string
  readonly cuda_error_code?: number
  readonly status?: string
  readonly http_status?: number
  readonly retry_after_s?: number
  readonly from?: string
  readonly to?: string
  readonly batch_from?: number
  readonly batch_to?: number
  readonly source_line?: string
  readonly nccl_version?: string
  readonly active_reasons?: readonly string[]
}

export type Remedy = { readonly text: string; readonly command?: string }
/** A line that shows the fault; `line` counts from 1 in the text that was read. */
export type EvidenceLine = { readonly line: number; readonly text: string }

export type Fault<Kind extends string = LogKind> = {
  readonly kind: Kind
  readonly severity: Severity
  readonly title: string
  /** One or two sentences: what failed and why. */
  readonly verdict: string
  readonly facts: Facts
  readonly remedies: readonly Remedy[]
  readonly evidence: readonly EvidenceLine[]
}
