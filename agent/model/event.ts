// Everything that flows through the pipeline. Times are Unix milliseconds; a recording is a list of these.
import type { Confidence } from './confidence.ts'
import type { HangRank } from './facts.ts'
import type { Outcome } from './job.ts'
import type { Gap, Reading } from './reading.ts'

/** One run of one source, or of a part of it. */
export type Scrape = {
  readonly type: 'scrape'
  readonly t: number
  readonly source: string
  /** The part of the source that this scrape renews: it replaces all that the same source and group said before. */
  readonly group: string
  /** How long the readings hold when no newer scrape of the group comes; after that the series are gone. */
  readonly ttlMs: number
  readonly durationMs: number
  readonly readings: readonly Reading[]
  readonly gaps: readonly Gap[]
}

export type LogStream = 'container' | 'kernel' | 'file'
export type LogOrigin = { readonly container?: string; readonly container_id?: string; readonly path?: string }
export type LogLine = {
  readonly type: 'log'
  readonly t: number
  readonly stream: LogStream
  readonly origin: LogOrigin
  readonly text: string
  /** Where to resume reading after this line; its form belongs to the source. */
  readonly cursor?: string
  /** Of a kernel line: 0 emergency … 7 debug. */
  readonly level?: number
}

/** What the log of a container ended with, when its run has ended: for the judgement of that end. */
export type LogTail = {
  readonly type: 'log_tail'
  readonly t: number
  readonly origin: LogOrigin
  /** The last 32 KiB, oldest first. */
  readonly lines: readonly string[]
}

/** `action` is the engine's own word: create, start, oom, die, stop, destroy, … */
export type ContainerEvent = {
  readonly type: 'container'
  readonly t: number
  readonly action: string
  readonly container: string
  readonly container_id: string
  readonly image?: string
  readonly compose_project?: string
  readonly compose_service?: string
  readonly namespace?: string
  readonly pod?: string
  readonly exit_code?: number
  /** Number of the signal that was sent through the engine; of `kill`. */
  readonly signal?: number
  /** Why the engine could not start it; of `die`. */
  readonly error?: string
}

/** What Slurm knows of a job: in a process event, as far as it is known. */
export type SlurmDetails = {
  readonly slurm_name?: string
  readonly slurm_user?: string
  readonly account?: string
  readonly partition?: string
  readonly time_limit_seconds?: number
  readonly gpus_requested?: number
}
/** A process outside of containers that holds GPU memory, with the process that a person started it by: it was first seen, or that one has ended. */
export type ProcessEvent = SlurmDetails & {
  readonly type: 'process'
  readonly t: number
  readonly action: 'seen' | 'exit'
  readonly pid: number
  /** The process by which its job began, itself or an ancestor: `start_ticks` as in /proc/PID/stat distinguishes two of one pid. */
  readonly root: { readonly pid: number; readonly start_ticks: number; readonly started_at?: number; readonly command: string }
  /** Pids from its parent up. */
  readonly ancestors: readonly number[]
  readonly user?: string
  readonly uid?: number
  readonly slurm_job?: string
  readonly unit?: string
  /** Of an exit: what the scheduler or service manager says of it. */
  readonly reported_by?: string
  readonly reported_words?: string
  readonly outcome?: Outcome
  readonly exit_code?: number
  readonly signal?: string
}

/** What a look at the processes of a job came to whose progress had stopped: it hangs, or it goes on (or has ended) after it was said to hang. */
/** The cause of an event about a process that computes in a loop without end: no rank is known to be missing in a collective. */
export const LOOP_CAUSE = 'loop'

export type HangEvent = {
  readonly type: 'hang'
  readonly t: number
  readonly job: string
  readonly container?: string
  readonly state: 'hangs' | 'over'
  /** The last sign of progress, Unix ms. */
  readonly since: number
  /** One sentence: who holds it up and where; or why it is over. */
  readonly text: string
  readonly cause: string
  readonly confidence: Confidence
  readonly culprits: readonly number[]
  readonly waits_in?: string
  readonly stands_at: readonly string[]
  readonly call_sites: readonly string[]
  readonly ranks: readonly HangRank[]
  readonly remedies: readonly string[]
  readonly evidence: readonly string[]
}

/** `warpwatch exec` says that a command began or ended. */
export type ExecEvent = {
  readonly type: 'exec'
  readonly t: number
  readonly action: 'start' | 'end'
  /** Of this run, made by `exec`. */
  readonly id: string
  readonly pid: number
  /** As in /proc/PID/stat. */
  readonly start_ticks?: number
  readonly name?: string
  readonly command: string
  readonly user?: string
  readonly exit_code?: number
  readonly signal?: string
  /** What ended it, as `exec` read in its output: the kind of an incident, and its title. */
  readonly cause_kind?: string
  readonly cause_title?: string
}

export type AllocatorStats = {
  readonly allocated_bytes?: number
  readonly reserved_bytes?: number
  readonly active_bytes?: number
  readonly inactive_split_bytes?: number
  readonly requested_bytes?: number
  readonly num_alloc_retries?: number
  readonly num_ooms?: number
  /** Requests refused before the driver was asked (PyTorch 2.12); they are no `num_ooms`. */
  readonly num_oom_rejections?: number
}

/** One process's caching-allocator statistics on one GPU. */
export type AllocatorSample = {
  readonly type: 'allocator'
  readonly t: number
  readonly pid: number
  readonly uuid: string
  /** Of the MIG instance; `uuid` is then that of the whole GPU. */
  readonly mig_uuid?: string
  readonly container?: string
  readonly backend?: 'native' | 'cudaMallocAsync' | 'other'
  readonly expandable?: boolean
  readonly limit_bytes?: number | null
  readonly stats: AllocatorStats
  readonly peaks?: Pick<AllocatorStats, 'allocated_bytes' | 'reserved_bytes'>
}

/** One pool of the allocator after the flush that did not help; ids other than 0,0 belong to CUDA graphs and `MemPool`s. */
export type AllocatorPool = {
  readonly pool: readonly [number, number]
  readonly stream: number
  readonly kind: 'small' | 'large'
  readonly expandable: boolean
  readonly segments: number
  readonly total_bytes: number
  readonly active_bytes: number
  readonly pending_bytes: number
  readonly free_bytes: number
  readonly free_blocks: number
  readonly largest_free_bytes: number
  readonly free_segments: number
  /** Bytes in free blocks that are large enough for the request. */
  readonly fitting_bytes: number
}

export type AllocatorOom = {
  readonly type: 'allocator_oom'
  readonly t: number
  readonly pid: number
  readonly uuid: string
  readonly mig_uuid?: string
  readonly container?: string
  readonly request_bytes: number
  readonly limit_bytes?: number
  readonly free_bytes?: number
  readonly stats: AllocatorStats
  readonly pools?: readonly AllocatorPool[]
}

/** A user marks an incident as resolved. An event, so that a recording gives the same incidents again. */
export type OperatorEvent = {
  readonly type: 'operator'
  readonly t: number
  readonly action: 'set_healthy'
  /** Id of the incident. */
  readonly incident: string
  readonly by?: string
  readonly note?: string
}

export type Event = Scrape | LogLine | LogTail | ContainerEvent | ProcessEvent | ExecEvent | HangEvent | AllocatorSample | AllocatorOom | OperatorEvent
