// What a job is: what a person started, with every run of it, how each run ended, and what it used. Plain JSON rows, as the API and the stream send them.
import type { IncidentKind } from './kinds.ts'
import type { Use, UseOwner } from './ledger.ts'

export const JOB_KINDS = ['container', 'pod', 'slurm', 'unit', 'exec', 'session'] as const
export type JobKind = (typeof JOB_KINDS)[number]

export const OUTCOMES = ['completed', 'failed', 'killed', 'cancelled', 'out_of_memory', 'time_limit', 'preempted', 'lost_gpu', 'unknown'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** How a bad end ranks among incidents. */
export const severityOfRun = ({ outcome }: Pick<Run, 'outcome'>): 'info' | 'warning' =>
  outcome === 'completed' || outcome === 'cancelled' ? 'info' : 'warning'

/** Which job something belongs to. */
export type JobIdentity = {
  /** 16 hex digits, the same for every run of the job. */
  readonly job_id: string
  /** The person's name for it: compose service, pod, Slurm job name, unit, `--name`, else the command. */
  readonly job: string
  readonly kind: JobKind
  readonly user?: string
  /** Of that user, on the host. */
  readonly uid?: number
  readonly namespace?: string
  readonly container?: string
  readonly container_id?: string
  readonly image?: string
  readonly slurm_job?: string
  /** Of the Slurm job: account, partition, time limit, and how many GPUs it asked for. */
  readonly account?: string
  readonly partition?: string
  readonly time_limit_seconds?: number
  readonly gpus_requested?: number
  readonly unit?: string
  /** Host pid of the process with which it began. */
  readonly pid?: number
  readonly command?: string
}

/** One GPU, or MIG instance, that a run held. */
export type RunGpu = {
  readonly uuid: string
  /** The host's number. */
  readonly gpu: string
  readonly gi?: string
  readonly ci?: string
  /** Mean of its share of the GPU's time: 0.5 where two jobs held it all along. */
  readonly share: number
  /** How long it was held. */
  readonly held_seconds: number
  /** Its share of the time in which a kernel ran, and in which none did; absent where the driver does not say (MIG). */
  readonly active_seconds?: number
  readonly idle_seconds?: number
  readonly energy_joules?: number
  /** GPU memory that it held, times how long. */
  readonly memory_byte_seconds?: number
  readonly memory_peak_bytes?: number
  /** That the GPU has. */
  readonly memory_total_bytes?: number
}

export type RunIncident = { readonly id: string; readonly kind: IncidentKind; readonly title: string }

export type GpuSeconds = {
  readonly active: number
  readonly idle: number
  /** Part of the two above that a bad end threw away: since the last state that the job saved, or since its start. */
  readonly lost: number
}

export type Run = JobIdentity & {
  readonly run: number
  /** Unix ms. `started_before`: it ran already when the agent first saw it, and its start is not known. */
  readonly started_at: number
  readonly started_before?: true
  /** When its log last said that it saved a state from which it can go on. */
  readonly saved_at?: number
  /** Absent while it runs. */
  readonly ended_at?: number
  /** When it was last seen running. */
  readonly seen_at: number
  readonly outcome?: Outcome
  /** One sentence: why this outcome. */
  readonly reason?: string
  readonly exit_code?: number
  /** `SIGKILL` and its like. */
  readonly signal?: string
  /** Who sent the signal, where that is known. */
  readonly sent_by?: string
  readonly gpus: readonly RunGpu[]
  readonly gpu_seconds: GpuSeconds
  readonly energy_joules?: number
  /** That it processed as an inference server which says so. */
  readonly tokens?: number
  /** Host memory. */
  readonly memory_peak_bytes?: number
  /** On all its GPUs together. */
  readonly gpu_memory_peak_bytes?: number
  /** The cause first. */
  readonly incidents: readonly RunIncident[]
}

/** Outside of containers: a process with whose end a run ends. `startTicks` as in /proc/PID/stat. */
export type Root = { readonly pid: number; readonly startTicks: number }
/** With the scheduler's or systemd's name, who can say how it ended. */
export type JobRoot = Root & { readonly slurmJob?: string; readonly unit?: string }
/** A run as the store keeps it, with what identifies it after a restart of the agent. */
export type StoredRun = {
  readonly key: string
  readonly roots: readonly Root[]
  readonly row: Run
  /** Up to when the ledger's parts are in its figures; without it up to `seen_at`. */
  readonly countedTo?: number
  /** Its processes on GPUs, as they were last listed. */
  readonly pids?: readonly number[]
  /** Rows that it was stored as before its job was known. */
  readonly former?: readonly StoredAs[]
}
/** What names a run in the store. */
export type StoredAs = Pick<Run, 'job_id' | 'run'>

/** One job with the sums of its runs. */
export type JobRow = {
  readonly job_id: string
  readonly job: string
  readonly kind: JobKind
  readonly user?: string
  readonly namespace?: string
  readonly runs: number
  readonly running: number
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>
  readonly gpu_seconds: GpuSeconds
  readonly energy_joules?: number
  readonly memory_peak_bytes?: number
  readonly gpu_memory_peak_bytes?: number
  /** The newest run. */
  readonly last: Run
}

export const JOB_GROUPS = ['user', 'job', 'gpu', 'namespace', 'account'] as const
export type JobGroup = (typeof JOB_GROUPS)[number]
/**
 * What all runs of one user, namespace, … used in the time asked for; `key` is absent for runs of which that is not known. `unheld`: no use, but the
 * energy of GPUs that nobody held.
 */
export type JobGroupRow = Pick<JobRow, 'runs' | 'running' | 'outcomes' | 'gpu_seconds' | 'energy_joules'> & {
  readonly by: JobGroup
  readonly key?: string
  readonly unheld?: true
  /** Time in which GPU memory was held: two that hold a GPU for an hour hold it for two. */
  readonly held_seconds?: number
  readonly memory_byte_seconds?: number
  readonly tokens?: number
  /** By the user's own factors, where they are set. */
  readonly price?: number
  readonly currency?: string
  readonly co2_grams?: number
}

export type JobFilter = {
  /** Runs that ran at or after, Unix ms. */
  readonly since?: number
  /** Without those that started then or later, and those that ended then or later. */
  readonly until?: number
  readonly limit: number
}
/** How readers ask for jobs. */
export type JobsView = {
  /** Running ones first, then the newest. */
  readonly list: (filter: JobFilter) => readonly JobRow[]
  readonly groups: (by: JobGroup, filter: Pick<JobFilter, 'since'>) => readonly JobGroupRow[]
  /** By its id, else the newest of that name; the newest runs first. */
  readonly runs: (job: string, limit: number) => readonly Run[]
}

/** Of a run that goes on, what other sources ask for every two seconds. */
export type RunningRun = Pick<Run, 'job' | 'job_id' | 'container' | 'pid'> & { readonly gpus: readonly Pick<RunGpu, 'uuid'>[] }

/** What the tracker of jobs wants to know of the host; the sources answer by events. */
export type JobInterest = {
  /** Pids outside of containers that hold GPU memory and of which no process event has come; each is named once. */
  readonly strangers: () => readonly number[]
  /** Of one of those: it ended before it could be identified, or is of a container. */
  readonly unidentified: (pid: number) => void
  /** `ask` is called when there are new ones, while readings are taken in. */
  readonly onStrangers: (ask: () => void) => void
  /** Processes whose end is to be reported. */
  readonly roots: () => readonly JobRoot[]
  /** Ids of containers whose runs were open when the agent ended, and that were not seen since. */
  readonly unconfirmed: () => readonly string[]
  readonly running: () => readonly RunningRun[]
}

/** What the metrics say; only jobs that ran since the agent started. */
export type JobFigures = {
  readonly running: readonly Run[]
  /** By the name of the job. */
  readonly totals: ReadonlyMap<string, JobTotals>
  /** By user, namespace and account. */
  readonly use: readonly { readonly owner: UseOwner; readonly use: Use }[]
}
export type JobTotals = {
  readonly runs: ReadonlyMap<Outcome, number>
  readonly gpuSeconds: GpuSeconds
  readonly hasGpu: boolean
  readonly energyJoules?: number
}
