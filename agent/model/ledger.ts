// The ledger of use: what jobs, users, namespaces and accounts used of the GPUs, in sums that outlive the raw history.

/** A GPU, or an instance of it, with the host's number. */
export type UseCard = { readonly uuid: string; readonly gpu: string; readonly gi?: string; readonly ci?: string }
/** Whose use it is. All absent: of processes without a known owner, or with `unheld` of GPUs without a process. */
export type UseOwner = {
  readonly job_id?: string
  readonly job?: string
  readonly user?: string
  readonly namespace?: string
  readonly account?: string
  readonly unheld?: true
}
export type Use = {
  /** Time in which GPU memory was held: a GPU that two hold for an hour is held for two. */
  readonly heldMs: number
  /** The part in which its kernels ran, and its share of the time in which none of anybody did; together, over all holders, the time of the GPU. */
  readonly activeMs: number
  readonly idleMs: number
  /** MiB of GPU memory times seconds. */
  readonly mibSeconds: number
  readonly joules: number
  /** Of inference servers that say so. */
  readonly tokens: number
}
export const NO_USE: Use = { heldMs: 0, activeMs: 0, idleMs: 0, mibSeconds: 0, joules: 0, tokens: 0 }
export const addUse = (a: Use, b: Use): Use => ({
  heldMs: a.heldMs + b.heldMs,
  activeMs: a.activeMs + b.activeMs,
  idleMs: a.idleMs + b.idleMs,
  mibSeconds: a.mibSeconds + b.mibSeconds,
  joules: a.joules + b.joules,
  tokens: a.tokens + b.tokens,
})

export const HOUR_MS = 3_600_000
/** What was used in one hour, counted from the Unix epoch. */
export type UseRow = { readonly hour: number; readonly owner: UseOwner; readonly card: UseCard; readonly use: Use }

/** Where the counting of a GPU stands: with it the time in which no agent ran is counted after a restart. */
export type CardCheckpoint = {
  readonly uuid: string
  readonly t: number
  /** Joules by the GPU's counter. */
  readonly counter?: number
  /** Power of the GPU while nothing runs, as it was learnt. */
  readonly idleWatts?: number
  readonly holders: readonly CardHolder[]
  /** How busy the GPU was, and its instances by their numbers. */
  readonly ratio?: number
  readonly instances?: Readonly<Record<string, number>>
  /** When that was read, Unix ms: each ten seconds, so that the next agent has no figure at first. */
  readonly instancesAt?: number
  /** Of the runs that hold it, by their keys: one that has ended by the next look has its last part to come. */
  readonly owners?: Readonly<Record<string, UseOwner>>
}
/** `run`: its key; empty for processes without a known owner. `ratio`: how busy it kept the GPU. `since`: when the run was started, Unix ms, where that is known. */
export type CardHolder = { readonly run: string; readonly card: UseCard; readonly mib: number; readonly ratio?: number; readonly since?: number }

/** By what waste is summed up. */
export const WASTE_GROUPS = ['user', 'namespace', 'account'] as const
export type WasteGroup = (typeof WASTE_GROUPS)[number]
/** What one user, namespace or account held and did not use; its name is absent where it is not known. `queueable`: whole hours in which nothing ran on the GPU, so another job could have had it. */
export type WasteRow = { readonly [Name in WasteGroup]?: string } & {
  readonly gpu_hours_held: number
  readonly gpu_hours_idle: number
  readonly gpu_hours_queueable: number
  readonly gpu_hours_lost: number
  /** Runs that ended badly, and what each job of them lost, the most first. */
  readonly died: readonly {
    readonly job: string
    readonly job_id: string
    readonly slurm_job?: string
    readonly runs: number
    readonly gpu_hours_lost: number
  }[]
  /** Jobs that asked for more GPUs than they used, or whose memory peak is far below what their GPUs have. */
  readonly oversized: readonly { readonly job: string; readonly job_id: string; readonly slurm_job?: string; readonly text: string }[]
  /** Of the idle and lost time, by the user's own factors. */
  readonly price?: number
  readonly currency?: string
}
export type WasteSummary = { readonly host: string; readonly from: number; readonly to: number; readonly rows: readonly WasteRow[] }

/** How often a summary of waste is sent: about the day or the week before. */
export const WASTE_PERIODS = ['daily', 'weekly'] as const
export type WastePeriod = (typeof WASTE_PERIODS)[number]
/** As it is sent: of one day or week, by the host's clock. `date` is its first day, such as `2026-11-25`. */
export type WasteReport = WasteSummary & { readonly period: WastePeriod; readonly date: string }
