// One check of a service: GET, the whole answer within a time, a bounded body, redirects on the same host only.
import { codeOf } from '../../text/error.ts'
import type { HttpClient, HttpFailure } from '../../lib/http-client.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import { meaningOf, type FailureReason } from './reasons.ts'

export type CheckOptions = {
  readonly client: Pick<HttpClient, 'exchange'>
  readonly url: string
  readonly timeoutMs: number
  /** undefined: any from 200 to 299. */
  readonly expectStatus?: number
  readonly headers: Readonly<Record<string, string>>
  /** Ends the check; it then says nothing of the service. */
  readonly signal?: AbortSignal
}
export type Checked =
  | { readonly up: true; readonly status: number; readonly latencyMs: number }
  | { readonly up: false; readonly reason: FailureReason; readonly detail: string; readonly status?: number; readonly latencyMs?: number }
  /** Nobody knows: the agent could not ask. */
  | { readonly up: undefined; readonly detail: string }

/** Nothing of a body is used; a service that sends more than this is alive. */
const MAX_BODY_BYTES = 64 * 1024
const MAX_REDIRECTS = 5
/** Of what a proxy answers to CONNECT, these say that it did not reach the service. */
const NOT_REACHED = /HTTP\/1\.\d (?:502|503|504)\b/

/** `own`: the agent, or its proxy, could not ask. */
function reasonOf({ status, error, text, proxy, connected }: HttpFailure): FailureReason | 'own' {
  if (status !== undefined) return 'reset'
  const meaning = meaningOf(error)
  if (proxy === undefined || connected) return meaning
  if (codeOf(error) === 'ERR_PROXY_TUNNEL') return NOT_REACHED.test(text) ? 'unreachable' : 'own'
  // The certificate is the service's own; anything else before a connection stands is between agent and proxy.
  return meaning === 'tls' ? meaning : 'own'
}

function failed(failure: HttpFailure, latencyMs: number): Checked {
  const { kind, text, status, to } = failure
  const known = status === undefined ? {} : { status }
  if (kind === 'aborted') return { up: undefined, detail: 'the agent ends' }
  if (kind === 'timeout') return { up: false, reason: 'timeout', detail: text, ...known }
  if (kind === 'redirect') {
    const where = to === undefined ? '' : ` (${shownUrl(to.href)})`
    return { up: false, reason: 'redirect', detail: `${text}${where}`, ...known, latencyMs }
  }
  const reason = reasonOf(failure)
  return reason === 'own' ? { up: undefined, detail: `the agent could not ask: ${text}` } : { up: false, reason, detail: text, ...known }
}

export async function checkTarget({ client, url, timeoutMs, expectStatus, headers, signal }: CheckOptions): Promise<Checked> {
  const begunAt = performance.now()
  const result = await client.exchange({
    url: new URL(url),
    headers: { accept: '*/*', ...headers },
    timeoutMs,
    maxBytes: MAX_BODY_BYTES,
    // Where one status is expected, a redirect is an answer too.
    redirects: expectStatus === undefined ? MAX_REDIRECTS : 0,
    ...(signal === undefined ? {} : { signal }),
  })
  const latencyMs = performance.now() - begunAt
  if ('failure' in result) return failed(result.failure, latencyMs)
  const { status } = result.answer
  if (expectStatus === undefined ? status >= 200 && status <= 299 : status === expectStatus) return { up: true, status, latencyMs }
  return { up: false, reason: 'status', detail: `status ${status} instead of ${expectStatus ?? '200 to 299'}`, status, latencyMs }
}
