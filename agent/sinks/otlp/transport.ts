// How the requests of one signal reach their receiver, and what its answers mean; one file for each protocol.
import type { ProxyFor } from '../../lib/proxy.ts'
import { redact } from '../../lib/redact.ts'

export type Signal = 'metrics' | 'logs'

/** `retry`: sending again may help, after `afterMs` if the receiver said so. `why` is for people: no URL, no header, no credential. */
export type Answer =
  | { readonly result: 'delivered'; readonly body: Uint8Array }
  | { readonly result: 'retry'; readonly why: string; readonly afterMs?: number }
  | { readonly result: 'rejected'; readonly why: string }

export type Transport = {
  /** Ends within the time-out, never throws. */
  readonly send: (request: Uint8Array) => Promise<Answer>
  /** Ends what is on its way. */
  readonly close: () => void
}

export type TransportOptions = {
  readonly signal: Signal
  /** Of http/protobuf the whole URL; of gRPC scheme, host and port count. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Certificates that are believed in place of the system's, PEM. */
  readonly ca?: Buffer
  readonly compression: 'gzip' | 'none'
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
}

/** Of a receiver's answer; partial successes are some hundred bytes. */
export const MAX_ANSWER_BYTES = 64 * 1024
/** What a receiver says of itself, short enough for a log line; it may say our own token. */
export const shortened = (text: string): string => {
  const plain = redact(text.replace(/[^\x20-\x7e]+/g, ' ').trim())
  return plain.length > 200 ? `${plain.slice(0, 199)}…` : plain
}
