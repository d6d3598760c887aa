// What may be done when an incident fires, as the user sets it, and what came of it. Off unless it is configured.
import type { Route } from './alert-settings.ts'

/** Signals that ask a job for something; none that only a debugger or the kernel sends. */
export const ACTION_SIGNALS = ['SIGUSR1', 'SIGUSR2', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGCONT', 'SIGSTOP', 'SIGKILL'] as const
export type ActionSignal = (typeof ACTION_SIGNALS)[number]

export type Action = {
  readonly name: string
  /** Of which incidents, as in routes. */
  readonly match: Route['match']
  /** A program by its absolute path and its arguments, no shell; or a signal to the first process of the job. One of both. */
  readonly command: readonly string[]
  readonly signal?: ActionSignal
  /** Says what it would do, and does nothing. */
  readonly dryRun: boolean
  readonly cooldownMs: number
  readonly perHour: number
  readonly timeoutMs: number
  /** Names of variables of the agent's environment that the command gets. */
  readonly env: readonly string[]
}

export const ACTION_STATES = ['started', 'done', 'failed', 'timeout', 'dry_run', 'skipped', 'interrupted'] as const
/** `interrupted`: the agent ended before the result was known; it is not done again. */
export type ActionState = (typeof ACTION_STATES)[number]
export type ActionResult = {
  readonly action: string
  readonly state: ActionState
  /** Unix ms. */
  readonly at: number
  readonly took_ms?: number
  readonly exit_code?: number
  /** One line: what was done, or why not. */
  readonly text: string
  /** The end of what the command printed, secrets masked. */
  readonly output?: string
}
