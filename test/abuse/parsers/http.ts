// Readers of what comes over HTTP and the WebSocket: heads, queries, bodies, messages; and of what receivers and collectors answer.
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { judgePosted } from '../../../alerts/notifiers/slack/answers.ts'
import { fitsPattern } from '../../../alerts/routing/match.ts'
import { acceptsGzip, metricsFormat } from '../../../agent/http/accept.ts'
import { parseIncidentQuery } from '../../../agent/http/api/incidents.ts'
import { parseSilence, parseWord } from '../../../agent/http/api/maintenance-schemas.ts'
import { parseTest } from '../../../agent/http/api/notifiers.ts'
import { parseSeriesQuery } from '../../../agent/http/api/series-query.ts'
import { createAccess } from '../../../agent/http/auth.ts'
import { guard, MAX_WRITE_BYTES } from '../../../agent/http/guards.ts'
import { parseDuration } from '../../../agent/text/duration.ts'
import { retryAfterMs } from '../../../agent/lib/retry-after.ts'
import { judge, tokenIn } from '../../../agent/sinks/live/handshake.ts'
import { retryDelayMs } from '../../../agent/sinks/otlp/retry-info.ts'
import { json, parserOf, textParser } from './parser.ts'

const NOW = 1_763_600_000_000
const access = createAccess({
  listen: '127.0.0.1:9839',
  token: 'right-token',
  insecure: false,
  allowedOrigins: ['https://ops.example'],
  allowedHosts: ['gpu-1'],
})
const HEADS = [
  'GET /metrics?x=1\nhost: localhost:9839\naccept: application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5\naccept-encoding: gzip;q=1.0, *;q=0\nauthorization: Bearer right-token',
  'POST /api/v1/silences\nhost: 127.0.0.1\ncontent-type: application/json; charset=utf-8\ncontent-length: 12\norigin: https://ops.example',
  'OPTIONS /api/v1/incidents/abc/ack\norigin: https://ops.example\naccess-control-request-method: POST',
  'GET /ws\nhost: [::1]:9839\nsec-websocket-protocol: warpwatch, %72ight-token\nconnection: upgrade',
  'DELETE /api/v1/silences/%00..%2f\ntransfer-encoding: chunked',
]
export const requestHeads = textParser(
  'request-heads',
  'method, path and header fields of a request',
  HEADS,
  (text) => {
    const [first = '', ...fields] = text.split('\n')
    const request = new IncomingMessage(new Socket())
    const [method, ...path] = first.split(' ')
    request.method = method
    request.url = path.join(' ')
    for (const field of fields) {
      const at = field.indexOf(':')
      if (at > 0) request.headers[field.slice(0, at).toLowerCase()] = field.slice(at + 1).trim()
    }
    guard(access, request)
    judge(request, access)
    metricsFormat(request.headers.accept)
    acceptsGzip(request.headers['accept-encoding'])
  },
  // Node's own limit of a request's head (--max-http-header-size).
  { mostBytes: 16_384, inputs: 200_000 },
)
export const queries = textParser(
  'queries',
  'queries of the API',
  [
    'metric=gpu_memory_used_bytes&uuid=GPU-1&from=1763600000000&to=1763600001000&points=100&gi=1',
    'status=firing&kind=cuda_oom&since=1763600000000&limit=20',
    'kind=cuda_omm&kind=x&%E0%A4%A=%',
  ],
  (text) => {
    const search = new URLSearchParams(text)
    parseSeriesQuery(search, NOW)
    parseIncidentQuery(search)
  },
  { mostBytes: 16_384, inputs: 300_000 },
)
export const bodies = textParser(
  'bodies',
  'bodies that change something',
  [
    json({ kind: 'cuda_oom', gpu: 'GPU-1', until: NOW + 1_000, reason: 'planned', by: 'ann' }),
    json({ all: true, for_ms: 60_000, reason: 'planned' }),
    json({ by: 'ann', note: 'looking' }),
    json({ kind: 'cuda_oom' }),
  ],
  (text) => {
    parseSilence(text, NOW)
    parseWord(text)
    parseTest(text)
  },
  { mostBytes: MAX_WRITE_BYTES, inputs: 200_000 },
)
export const socketMessages = parserOf(
  'websocket-messages',
  'the first message of a reader of the stream',
  [json({ type: 'auth', token: 'right-token' })],
  (input) => {
    const token = tokenIn(input)
    if (token !== undefined) access.tokenIs(token)
  },
)
export const answers = textParser(
  'answers-of-receivers',
  'answers and header fields of services that the agent calls',
  [
    json({ ok: false, error: 'channel_not_found' }),
    json({ ok: true, ts: '1.2', message: { thread_ts: '1.1' } }),
    '120',
    'Wed, 21 Oct 2031 07:28:00 GMT',
    '1h30m',
    'gpu-*-train-*',
  ],
  (text) => {
    judgePosted({ status: 200, body: text, headers: {} })
    retryAfterMs(text, NOW)
    parseDuration(text)
    fitsPattern(text, 'gpu-1-train-2')
  },
  { inputs: 300_000 },
)
const field = (number: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.of((number << 3) | 2, bytes.length), bytes])
const DELAY = field(1, Buffer.of(0x08, 30, 0x10, 5))
const INFO = field(3, Buffer.concat([field(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')), field(2, DELAY)]))
export const retryInfo = parserOf(
  'grpc-status-details',
  'the wait that an OTLP collector asks for in grpc-status-details-bin',
  [INFO],
  (input) => void retryDelayMs(input),
)
