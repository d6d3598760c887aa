// What `warpwatch doctor` reports: what each check found and how to fix it, as the command line, the API and the dashboard show it.
import type { Remedy } from './fault.ts'

export const CHECK_STATUSES = ['pass', 'warn', 'fail', 'skipped'] as const
export type CheckStatus = (typeof CHECK_STATUSES)[number]
export const CHECK_GROUPS = ['host', 'toolkit', 'container', 'wsl2', 'compose', 'warpwatch'] as const
export type CheckGroup = (typeof CHECK_GROUPS)[number]

/** What a check found. One check may find several things: one for each container, GPU or service. */
export type Finding = {
  readonly status: CheckStatus
  /** The container, GPU, file or service that it is about; absent: the host. */
  readonly subject?: string
  /** One line: what was found. A failure names what was expected and what came; `skipped` says why. */
  readonly summary: string
  /** More, where one line does not do. */
  readonly detail?: string
  /** Exact steps for this distribution, in their order; every failure and warning has at least one. */
  readonly remedies?: readonly Remedy[]
  /** Nothing is wrong, and yet it is to be known: printed also without `-v`. */
  readonly notice?: true
}

export type CheckReport = {
  readonly id: string
  readonly group: CheckGroup
  readonly title: string
  readonly status: CheckStatus
  readonly duration_ms: number
  readonly findings: readonly Finding[]
}
export type DoctorReport = {
  readonly version: 1
  readonly t: number
  readonly host: string
  /** The worst of all checks. */
  readonly status: CheckStatus
  readonly counts: Readonly<Record<CheckStatus, number>>
  readonly checks: readonly CheckReport[]
  readonly duration_ms: number
}
