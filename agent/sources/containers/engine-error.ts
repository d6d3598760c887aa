// What went wrong between us and a container engine, in the words that a gap needs.
import type { GapReason } from '../../model/reading.ts'
import { codeOf, errnoOf, messageOf } from '../../text/error.ts'

export class EngineError extends Error {
  readonly reason: GapReason
  /** HTTP status or errno. */
  readonly nativeCode: number | undefined

  constructor(reason: GapReason, message: string, options: { readonly code?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'EngineError'
    this.reason = reason
    this.nativeCode = options.code
  }
}

const HINTS: Readonly<Record<string, { readonly reason: GapReason; readonly text: string }>> = {
  EACCES: { reason: 'no_permission', text: 'no permission: run the agent as a member of the group that owns the socket, or as root' },
  EPERM: { reason: 'no_permission', text: 'no permission: run the agent as a member of the group that owns the socket, or as root' },
  ENOENT: { reason: 'not_supported', text: 'there is no such socket' },
  ECONNREFUSED: { reason: 'driver_error', text: 'no process listens on the socket: the engine is not running' },
  ENOTSOCK: { reason: 'not_supported', text: 'it is not a socket' },
}

/** Turns what a request threw into an EngineError; `doing` names the request and the socket. */
export function toEngineError(error: unknown, doing: string): EngineError {
  if (error instanceof EngineError) return error
  const name = codeOf(error)
  const hint = name === undefined ? undefined : HINTS[name]
  const code = errnoOf(error)
  const text = hint?.text ?? messageOf(error)
  return new EngineError(hint?.reason ?? 'driver_error', `${doing}: ${text}`, { code, cause: error })
}

/** An answer other than 200; `doing` names the request and the socket, `unsupported` the statuses by which the engine says that it cannot do this at all. */
export function refusal(doing: string, status: number, body: string, unsupported: readonly number[]): EngineError {
  // Some of Docker's log drivers cannot be read, which older engines say in words only.
  const cannot = unsupported.includes(status) || /does not support reading/.test(body)
  const reason = status === 401 || status === 403 ? 'no_permission' : cannot ? 'not_supported' : 'driver_error'
  return new EngineError(reason, `${doing}: the engine answered with status ${status}: ${body.slice(0, 200).trim()}`, { code: status })
}
