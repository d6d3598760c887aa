// OTLP over gRPC: one unary call for each request. Loaded only where the configuration says grpc, since the library is half a megabyte of code.
import { credentials, logVerbosity, makeGenericClientConstructor, Metadata, setLogVerbosity, status, type ServiceError } from '@grpc/grpc-js'
import { VERSION } from '../../lib/version.ts'
import { retryDelayMs } from './retry-info.ts'
import { MAX_ANSWER_BYTES, shortened, type Answer, type Signal, type Transport, type TransportOptions } from './transport.ts'

const METHODS: Readonly<Record<Signal, string>> = {
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
}
/** https://opentelemetry.io/docs/specs/otlp/, "Failures" of OTLP/gRPC. RESOURCE_EXHAUSTED only where the receiver says when. */
const RETRYABLE: ReadonlySet<number> = new Set([
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.OUT_OF_RANGE,
  status.UNAVAILABLE,
  status.DATA_LOSS,
])
const GZIP = 2
const direct = (): undefined => undefined
const PORT = '4317'

function metadataOf(headers: TransportOptions['headers']): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) {
    try {
      metadata.set(name.toLowerCase(), value)
    } catch (cause) {
      // The library's own words hold the value.
      throw new Error(
        `otlp.headers: gRPC cannot send the header ${JSON.stringify(name)} (value hidden). Names are lower-case letters, digits, - and _; values printable ASCII`,
        { cause },
      )
    }
  }
  return metadata
}

function answerTo(error: ServiceError): Answer {
  const why = `gRPC status ${error.code} ${status[error.code] ?? ''}: ${shortened(error.details)}`
  const [details] = error.metadata.get('grpc-status-details-bin')
  const afterMs = details instanceof Buffer ? retryDelayMs(details) : undefined
  if (!RETRYABLE.has(error.code) && !(error.code === status.RESOURCE_EXHAUSTED && afterMs !== undefined)) return { result: 'rejected', why }
  return { result: 'retry', why, ...(afterMs === undefined ? {} : { afterMs }) }
}

export function createGrpcTransport({ signal, url: endpoint, headers, timeoutMs, ca, compression, proxyFor = direct }: TransportOptions): Transport {
  // What goes wrong is in the answers; the library would write it to stderr besides.
  setLogVerbosity(logVerbosity.NONE)
  const metadata = metadataOf(headers)
  const Client = makeGenericClientConstructor({}, 'otlp')
  const receiver = `${endpoint.hostname}:${endpoint.port === '' ? PORT : endpoint.port}`
  const proxy = proxyFor(endpoint)
  if (proxy?.protocol === 'https:') throw new Error('otlp: gRPC goes through proxies of http:// only; take protocol http/protobuf, or http_client.proxy: none')
  const client = new Client(
    proxy === undefined ? receiver : `${proxy.hostname}:${proxy.port === '' ? '80' : proxy.port}`,
    endpoint.protocol === 'https:' ? credentials.createSsl(ca ?? null) : credentials.createInsecure(),
    {
      'grpc.primary_user_agent': `warpwatch/${VERSION}`,
      'grpc.default_compression_algorithm': compression === 'gzip' ? GZIP : 0,
      'grpc.max_receive_message_length': MAX_ANSWER_BYTES,
      // Tries are ours to time; the library would wait for up to two minutes before it connects again.
      'grpc.max_reconnect_backoff_ms': 5_000,
      // The library's own reading of the environment knows the lower case only; these are what it makes of it.
      'grpc.enable_http_proxy': 0,
      ...(proxy === undefined ? {} : { 'grpc.http_connect_target': `dns:${receiver}`, 'grpc.default_authority': receiver }),
      ...(proxy === undefined || proxy.username === ''
        ? {}
        : { 'grpc.http_connect_creds': `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}` }),
    },
  )
  const same = (value: Buffer): Buffer => value
  return {
    async send(request) {
      const { promise, resolve } = Promise.withResolvers<Answer>()
      const body = Buffer.from(request.buffer, request.byteOffset, request.byteLength)
      client.makeUnaryRequest(METHODS[signal], same, same, body, metadata, { deadline: Date.now() + timeoutMs }, (error, answer) =>
        resolve(error === null ? { result: 'delivered', body: answer ?? new Uint8Array() } : answerTo(error)),
      )
      return promise
    },
    close: () => client.close(),
  }
}
