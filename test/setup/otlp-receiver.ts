// A receiver of OTLP over HTTP or gRPC that takes requests apart and answers as a test wants, well or badly.
import type { IncomingHttpHeaders } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { Metadata, Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import { decodeLogs, decodeMetrics, encode, type SentLogs, type SentMetrics } from './otlp-decode.ts'
import { poll } from './poll.ts'
import { tlsServer, webServer, type Listening } from './web-server.ts'

export type Reply =
  | 'take'
  /** Keeps the connection, says nothing. */
  | 'hang'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | { readonly rejected: number; readonly words?: string }
  | { readonly code: number; readonly details: string; readonly retryAfterS?: number }

export type OtlpReceiver = {
  readonly endpoint: string
  readonly protocol: 'http/protobuf' | 'grpc'
  readonly metrics: readonly SentMetrics[]
  readonly logs: readonly SentLogs[]
  /** Requests that came, taken or not; header names in lower case. */
  readonly requests: readonly { readonly path: string; readonly headers: Readonly<Record<string, unknown>>; readonly at: number }[]
  /** From now on. */
  readonly reply: (reply: Reply) => void
  /** Waits until that many requests have come in all. */
  readonly requested: (count: number) => Promise<void>
  /** Waits until that many requests of metrics have been taken in all. */
  readonly taken: (count: number) => Promise<void>
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
export type ReceiverOptions = {
  readonly protocol?: 'http/protobuf' | 'grpc'
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Takes this port again. */ readonly port?: number
}

/** As long as the outlet itself may pause between two tries (agent/sinks/otlp/outlet.ts): a minute, and half of it by chance. */
const OUTWAIT_MS = 90_000

type Desk = {
  readonly receive: (path: string, headers: Readonly<Record<string, unknown>>, body: Uint8Array) => Reply
}
const METHODS = ['/opentelemetry.proto.collector.metrics.v1.MetricsService/Export', '/opentelemetry.proto.collector.logs.v1.LogsService/Export'] as const
const answerTo = (reply: Reply): Buffer =>
  typeof reply === 'object' && 'rejected' in reply
    ? encode('ExportResponse', { partialSuccess: { rejected: reply.rejected, errorMessage: reply.words ?? '' } })
    : Buffer.alloc(0)

async function overHttp({ receive }: Desk, tls: ReceiverOptions['tls'], port = 0): Promise<Listening> {
  const answer: Parameters<typeof webServer>[0] = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const sent = Buffer.concat(chunks)
      const headers: IncomingHttpHeaders = request.headers
      const reply = receive(`${request.method} ${request.url}`, headers, headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent)
      if (reply === 'hang') return
      if (typeof reply === 'object' && 'status' in reply) response.writeHead(reply.status, reply.headers).end(reply.body ?? '')
      else response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(answerTo(reply))
    })
  }
  return tls === undefined ? webServer(answer, port) : tlsServer(tls, answer)
}

async function overGrpc({ receive }: Desk, tls: ReceiverOptions['tls'], port = 0): Promise<Listening> {
  const server = new Server()
  const same = (value: Buffer): Buffer => value
  for (const path of METHODS) {
    const [service = '', method = ''] = path.slice(1).split('/')
    const definition = {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    } as const
    server.addService(
      { [method]: definition },
      {
        [method]: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
          const reply = receive(`${service}/${method}`, call.metadata.getMap(), call.request)
          if (reply === 'hang') return
          if (typeof reply !== 'object' || !('code' in reply)) return done(null, answerTo(reply))
          const metadata = new Metadata()
          if (reply.retryAfterS !== undefined) {
            const value = encode('RetryInfo', { retryDelay: { seconds: reply.retryAfterS } })
            const details = [{ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value }]
            metadata.set('grpc-status-details-bin', encode('Status', { code: reply.code, message: reply.details, details }))
          }
          done({ code: reply.code, details: reply.details, metadata })
        },
      },
    )
  }
  const identity =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }])
  const taken = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, identity, (error, bound) => (error === null ? resolve(bound) : reject(error))),
  )
  return { url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${taken}`, port: taken, close: async () => server.forceShutdown() }
}

export async function otlpReceiver({ protocol = 'http/protobuf', tls, port }: ReceiverOptions = {}): Promise<OtlpReceiver> {
  const metrics: SentMetrics[] = []
  const logs: SentLogs[] = []
  const requests: { path: string; headers: Readonly<Record<string, unknown>>; at: number }[] = []
  let next: Reply = 'take'
  const desk: Desk = {
    receive(path, headers, body) {
      requests.push({ path, headers, at: performance.now() })
      const reply = next
      if (reply === 'take' || (typeof reply === 'object' && 'rejected' in reply)) {
        if (/metrics/i.test(path)) metrics.push(decodeMetrics(body))
        else logs.push(decodeLogs(body))
      }
      return reply
    },
  }
  const listening = await (protocol === 'grpc' ? overGrpc : overHttp)(desk, tls, port)
  return {
    endpoint: listening.url,
    protocol,
    metrics,
    logs,
    requests,
    reply: (reply) => void (next = reply),
    requested: async (count) =>
      void (await poll(() => requests.length >= count, { what: () => `${count} requests; there were ${requests.length}`, deadlineMs: OUTWAIT_MS })),
    taken: async (count) =>
      void (await poll(() => metrics.length >= count, { what: () => `${count} requests of metrics; there were ${metrics.length}`, deadlineMs: OUTWAIT_MS })),
    close: listening.close,
    [Symbol.asyncDispose]: listening.close,
  }
}
