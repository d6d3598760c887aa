// One try to deliver one message: put into words, sent, and the answer judged.
import type { ProxyFor } from '../../agent/lib/proxy.ts'
import { boundedWait, retryAfterMs } from '../../agent/lib/retry-after.ts'
import type { Message, RunMessage, WasteMessage } from '../../agent/model/notification.ts'
import { messageOf } from '../../agent/text/error.ts'
import type { Notifier, OutgoingRequest, ReceiverAnswer, Verdict } from '../notifiers/definition.ts'
import type { CommonOptions } from '../notifiers/common.ts'
import { send } from './request.ts'

/** How one notifier is spoken to, whatever its type. */
export type DeliveryOptions = Pick<CommonOptions, 'timeout_ms' | 'max_messages_per_minute' | 'expire_ms' | 'ca_file'>
export type AttemptOptions = {
  readonly notifier: Notifier
  readonly options: DeliveryOptions
  readonly message: Message | RunMessage | WasteMessage
  readonly threads?: ReadonlyMap<string, string>
  readonly now: () => number
  readonly signal?: AbortSignal
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
}
export type Attempt = Verdict & {
  /** Of the receiver's answer, where one came. */
  readonly status?: number
  /** It could not even be put into words. */
  readonly unusable?: true
  /** The receiver got this message and answered with trouble of its own, or not at all: it may be the message that it cannot stand. */
  readonly struck?: true
}

const RETRIED: ReadonlySet<number> = new Set([408, 425, 429])

/** What an answer means where the notifier does not know better. Bodies are not told: they may repeat the URL. */
export function judgeByStatus({ status }: ReceiverAnswer): Verdict {
  if (status >= 200 && status <= 299) return { result: 'delivered' }
  return { result: RETRIED.has(status) || status >= 500 ? 'retry' : 'rejected', why: `the receiver answered with status ${status}` }
}

function requestOf(
  { finished, waste, request, host }: Notifier,
  message: Message | RunMessage | WasteMessage,
  threads: ReadonlyMap<string, string>,
): OutgoingRequest {
  // It may have waited in the outbox while the notifier of this name got another type.
  if ('runs' in message) {
    if (finished === undefined) throw new Error(`${host} takes incidents only, not runs that have ended`)
    return finished(message)
  }
  if ('waste' in message) {
    if (waste === undefined) throw new Error(`${host} takes incidents only, not summaries of waste`)
    return waste(message)
  }
  return request(message, threads)
}

export async function attempt({ notifier, options, message, threads = new Map(), now, signal, proxyFor }: AttemptOptions): Promise<Attempt> {
  let request
  try {
    request = requestOf(notifier, message, threads)
  } catch (error) {
    return { result: 'rejected', why: messageOf(error), unusable: true }
  }
  const sent = await send(request, {
    timeoutMs: options.timeout_ms,
    ...(options.ca_file === '' ? {} : { caFile: options.ca_file }),
    ...(signal === undefined ? {} : { signal }),
    ...(proxyFor === undefined ? {} : { proxyFor }),
  })
  if ('failed' in sent) {
    const { failed: why, heard, afterMs } = sent
    return { result: 'retry', why, ...(afterMs === undefined ? {} : { afterMs }), ...(heard ? { struck: true } : {}) }
  }
  const { answer } = sent
  const { status } = answer
  const verdict = (notifier.judge ?? judgeByStatus)(answer)
  if (verdict.result !== 'retry') return { ...verdict, status }
  const afterMs = verdict.afterMs === undefined ? retryAfterMs(answer.headers['retry-after'], now()) : boundedWait(verdict.afterMs)
  if (afterMs !== undefined) return { ...verdict, status, afterMs }
  return { ...verdict, status, ...(status === 429 ? {} : { struck: true }) }
}
