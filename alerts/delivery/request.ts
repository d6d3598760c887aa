// One request of a notifier to its receiver, and what of its answer the notifier may see.
import { readFileSync } from 'node:fs'
import { createHttpClient, type HttpAnswer } from '../../agent/lib/http-client.ts'
import { lineOf } from '../../agent/text/error.ts'
import type { ProxyFor } from '../../agent/lib/proxy.ts'
import type { OutgoingRequest, ReceiverAnswer } from '../notifiers/definition.ts'

export type SendOptions = {
  readonly timeoutMs: number
  /** PEM; instead of the authorities that Node trusts. */
  readonly caFile?: string
  readonly signal?: AbortSignal
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
}
export type Sent =
  | { readonly answer: ReceiverAnswer }
  /** `heard`: the receiver may have got it, so that the message itself may be what it cannot stand. */
  | { readonly failed: string; readonly heard: boolean; readonly afterMs?: number }

/** More than any receiver of ours needs to say. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_REDIRECTS = 3
/** Whoever leads elsewhere has to be reconfigured, or is down for good. */
const ELSEWHERE_MS = 300_000

function answerOf({ status, headers, body }: HttpAnswer): ReceiverAnswer {
  const named = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const)
  return { status, headers: Object.fromEntries(named), body: body.toString('utf8') }
}

export async function send(request: OutgoingRequest, { timeoutMs, caFile, signal, proxyFor }: SendOptions): Promise<Sent> {
  const { url, method, headers, body } = request
  let ca: Buffer | undefined
  try {
    // Read each time: a certificate that was renewed holds from the next message on.
    if (caFile !== undefined) ca = readFileSync(caFile)
  } catch (error) {
    return { failed: lineOf(error), heard: false }
  }
  if (/^smtps?:/.test(url)) {
    const { sendMail } = await import('./smtp.ts')
    return sendMail(request, { timeoutMs, ...(ca === undefined ? {} : { ca }), ...(signal === undefined ? {} : { signal }) })
  }
  const client = createHttpClient({ ...(ca === undefined ? {} : { ca }), ...(proxyFor === undefined ? {} : { proxyFor }) })
  const result = await client.exchange({
    url: new URL(url),
    method,
    headers,
    body,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
    redirects: MAX_REDIRECTS,
    ...(signal === undefined ? {} : { signal }),
  })
  client.close()
  if ('answer' in result) return { answer: answerOf(result.answer) }
  const { kind, text, connected } = result.failure
  // Who leads elsewhere has not taken it.
  if (kind === 'redirect') return { failed: text, heard: false, afterMs: ELSEWHERE_MS }
  return { failed: kind === 'aborted' ? 'the agent ends' : text, heard: connected }
}
