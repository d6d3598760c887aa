// How hosts beside this one are shown: a compact row each, as its own agent says it.
import type { Severity } from './severity.ts'

/** `GET /api/v1/summary`: this host in some hundred bytes. */
export type HostSummary = {
  readonly host: string
  /** Unix ms. */
  readonly t: number
  readonly version: string
  readonly simulated: boolean
  readonly gpus: number
  readonly memory_used_bytes: number
  readonly memory_total_bytes: number
  /** Mean over the GPUs that say it; absent where none does. */
  readonly utilization_ratio?: number
  readonly power_watts?: number
  /** Indexes of GPUs that do not answer. */
  readonly silent: readonly number[]
  readonly jobs_running: number
  /** Incidents that fire and are not silenced. */
  readonly firing: Readonly<Record<Severity, number>>
  /** The worst of them. */
  readonly worst?: { readonly id: string; readonly kind: string; readonly severity: Severity; readonly title: string; readonly started_at: number }
}

/** `GET /api/v1/hosts`: a row for this host and each that it is configured to show. */
export type HostEntry = {
  readonly name: string
  /** The agent that answers this. */
  readonly self?: true
  /** The last that it said; absent where it never answered. */
  readonly summary?: HostSummary
  /** When that came, Unix ms by this host's clock. */
  readonly seen_at?: number
  /** Why it does not answer now. */
  readonly problem?: string
}

/** What the agents tell each other of a job that hangs and has ranks on several hosts. */
export type HangEvidence = {
  /** Of this host: where the ranks of the job meet, and what was found out about those here. */
  readonly share: (master: string, evidence: string) => void
  readonly of: (master: string) => string | undefined
  /** Of all other hosts that know something of that job. Never throws. */
  readonly elsewhere: (master: string) => Promise<readonly string[]>
}
export const EVIDENCE_PATH = '/api/v1/hangs/evidence'
/** Bytes of one host's; more is neither sent nor taken. */
export const MOST_EVIDENCE = 4_000_000
