// OTLP over HTTP with protobuf bodies: POST to /v1/metrics and /v1/logs below the endpoint. No redirect is followed: it could take the headers elsewhere.
import { Agent as PlainAgent, request as overHttp, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as overHttps } from 'node:https'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { wordsOf } from '../../lib/error-words.ts'
import { retryAfterMs } from '../../lib/retry-after.ts'
import { VERSION } from '../../lib/version.ts'
import { MAX_ANSWER_BYTES, shortened, type Answer, type Signal, type Transport, type TransportOptions } from './transport.ts'

const gzipAsync = promisify(gzip)

/** The only ones that may be tried again: https://opentelemetry.io/docs/specs/otlp/, "Retryable Response Codes". */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504])

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) break // leaving the loop ends the connection
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export function createHttpTransport({ endpoint, headers, timeoutMs, ca, compression }: TransportOptions): Transport {
  const secure = endpoint.protocol === 'https:'
  // One connection for each signal, kept: a handshake a minute costs both sides more than the request.
  const agent = secure
    ? new TlsAgent({ keepAlive: true, maxSockets: 2, ...(ca === undefined ? {} : { ca }) })
    : new PlainAgent({ keepAlive: true, maxSockets: 2 })
  const urlOf = (signal: Signal): URL => {
    const url = new URL(endpoint)
    url.pathname = `${endpoint.pathname.replace(/\/$/, '')}/v1/${signal}`
    return url
  }
  const urls: Readonly<Record<Signal, URL>> = { metrics: urlOf('metrics'), logs: urlOf('logs') }

  const post = async (signal: Signal, body: Uint8Array, ended: AbortSignal): Promise<IncomingMessage> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const call = (secure ? overHttps : overHttp)(urls[signal], {
      method: 'POST',
      agent,
      signal: ended,
      headers: {
        'user-agent': `warpwatch/${VERSION}`,
        ...headers,
        'content-type': 'application/x-protobuf',
        'content-length': body.length,
        ...(compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
      },
    })
    call.on('error', reject)
    call.on('response', resolve)
    call.end(body)
    return promise
  }
  const ask = async (signal: Signal, request: Uint8Array, ended: AbortSignal): Promise<Answer> => {
    const body = compression === 'gzip' ? await gzipAsync(request) : request
    const answer = await post(signal, body, ended)
    const { statusCode: status = 0 } = answer
    const text = await bodyOf(answer)
    if (status >= 200 && status <= 299) return { result: 'delivered', body: text }
    const why = `HTTP status ${status}${answer.statusMessage ? ` ${shortened(answer.statusMessage)}` : ''}`
    if (!RETRYABLE.has(status)) return { result: 'rejected', why }
    const afterMs = retryAfterMs(answer.headers['retry-after'], Date.now())
    return { result: 'retry', why, ...(afterMs === undefined ? {} : { afterMs }) }
  }
  return {
    async send(signal, request) {
      const ended = AbortSignal.timeout(timeoutMs)
      try {
        return await ask(signal, request, ended)
      } catch (error) {
        return { result: 'retry', why: ended.aborted || !(error instanceof Error) ? `no whole answer within ${timeoutMs} ms` : shortened(wordsOf(error)) }
      }
    },
    close: () => agent.destroy(),
  }
}
