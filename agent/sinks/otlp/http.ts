// OTLP over HTTP with protobuf bodies: a POST for each request. No redirect is followed: it could take the headers elsewhere.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { createHttpClient } from '../../lib/http-client.ts'
import { retryAfterMs } from '../../lib/retry-after.ts'
import { MAX_ANSWER_BYTES, shortened, type Transport, type TransportOptions } from './transport.ts'

const gzipAsync = promisify(gzip)

/** The only ones that may be tried again: https://opentelemetry.io/docs/specs/otlp/, "Retryable Response Codes". */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504])

export function createHttpTransport({ url, headers, timeoutMs, ca, compression, proxyFor }: TransportOptions): Transport {
  // The connection is kept: a handshake a minute costs both sides more than the request.
  const client = createHttpClient({ keep: 1, ...(ca === undefined ? {} : { ca }), ...(proxyFor === undefined ? {} : { proxyFor }) })

  return {
    async send(request) {
      const result = await client.exchange({
        url,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-protobuf', ...(compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}) },
        body: compression === 'gzip' ? await gzipAsync(request) : request,
        timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
      })
      if ('failure' in result) return { result: 'retry', why: shortened(result.failure.text) }
      const { status, statusText, headers: answered, body } = result.answer
      if (status >= 200 && status <= 299) return { result: 'delivered', body }
      const why = `HTTP status ${status}${statusText ? ` ${shortened(statusText)}` : ''}`
      if (!RETRYABLE.has(status)) return { result: 'rejected', why }
      const afterMs = retryAfterMs(answered['retry-after'], Date.now())
      return { result: 'retry', why, ...(afterMs === undefined ? {} : { afterMs }) }
    },
    close: () => client.close(),
  }
}
