// Requests that are wrong on purpose: traversal, header injection, smuggling, prototype keys, absurd ranges, deep JSON. Each is refused by name, and nothing breaks.
import { compiler } from '../../fakes/nvml/build.ts'
import { eightH100 } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { inParallel, portOf, raw, statusesIn } from '../parts/requests.ts'
import { mib, sampled } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

/** What is in files that a traversal would reach, and what no answer may carry. */
const NEVER = /root:x:0|"better-sqlite3"|\n +at |\nx-injected/i
const UP = ['../', '..%2f', '%2e%2e/', '%2e%2e%2f', '..%5c', '..\\', '....//', '..;/', '%252e%252e%252f', '..%c0%af', '..%00/', '%uff0e%uff0e/']
const TRAVERSAL = UP.flatMap((up) =>
  ['/', '/assets/', '/runbooks/', '/api/v1/incidents/', '/api/v1/containers/'].flatMap((base) =>
    ['etc/passwd', 'package.json'].map((file) => `GET ${base}${up.repeat(8)}${file} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
  ),
)
const end = 'Host: localhost\r\nConnection: close\r\n\r\n'
const INJECTION = [
  `GET /api/v1/incidents/%0d%0aX-Injected:%201 HTTP/1.1\r\n${end}`,
  `GET /runbooks/xid%0d%0aX-Injected:1 HTTP/1.1\r\n${end}`,
  `GET /%0d%0aX-Injected:1 HTTP/1.1\r\n${end}`,
  `OPTIONS /metrics HTTP/1.1\r\nOrigin: http://a%0d%0aX-Injected: 1\r\nAccess-Control-Request-Method: GET\r\n${end}`,
  `GET /metrics HTTP/1.1\r\nX: a\rX-Injected: 1\r\n${end}`,
  `GET /metrics HTTP/1.1\r\nX: a\0b\r\n${end}`,
  `GET /metrics HTTP/1.1\r\n X: folded\r\n${end}`,
  `GET /metrics HTTP/1.1\r\nX : a\r\n${end}`,
  `GET /metrics HTTP/1.1\r\nHost: a\r\n${end}`,
  `GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n${end}`,
  `GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ${'a,'.repeat(6_000)}\r\n${end}`,
  `GET / HTTP/9.9\r\n${end}`,
  `GET /\r\n\r\n`,
  `\r\n\r\n\0\0\0`,
  `GET ${'/a'.repeat(9_000)} HTTP/1.1\r\n${end}`,
  `GET / HTTP/1.1\r\n${Array.from({ length: 3_000 }, (_, n) => `X${n}: 1\r\n`).join('')}${end}`,
]
const inner =
  'POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 57\r\n\r\n{"kind":"xid","for_ms":3600000,"reason":"smuggled","by":1}'
/** Two readings of where a body ends; the second request must never be carried out. `{"by":1}` would refuse it too, so that only its status tells. */
const SMUGGLING = [
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${inner.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\nContent-Length: 4\r\n\r\n${inner}`,
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\n${inner}`,
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x10\r\n\r\n${inner}`,
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n${inner}`,
  `POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n${inner}`,
]
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const BODIES = [
  '{"__proto__":{"all":true},"for_ms":60000,"reason":"x"}',
  '{"constructor":{"prototype":{"all":true}},"for_ms":60000,"reason":"x"}',
  '{"kind":"__proto__","for_ms":60000,"reason":"x"}',
  '{"kind":"xid","for_ms":1e308,"reason":"x"}',
  '{"kind":"xid","for_ms":-1,"reason":"x"}',
  '{"kind":"xid","until":NaN,"reason":"x"}',
  '{"kind":"xid","for_ms":60000,"reason":["x"]}',
  '[['.repeat(2_000),
  `{"reason":"${'\\u0000'.repeat(600)}"}`,
  '\0',
  '""',
  'null',
]
const PROTOTYPE = BODIES.flatMap((body) =>
  ['/api/v1/silences', '/api/v1/incidents/0123456789abcdef/ack', '/api/v1/notifiers/__proto__/test', '/api/v1/fit?params=7B', '/api/v1/fit'].map((path) =>
    post(path, body),
  ),
)
const ABSURD = [
  'from=2000&to=1000',
  'from=1e308',
  'from=-1',
  'from=NaN',
  'from=Infinity',
  'points=1000000000',
  'points=0',
  'points=1.5',
  'points=',
  'from=99999999999999999999',
  'to=9007199254740993',
  '__proto__[x]=1',
  'from=1&from=2',
  `${'a'.repeat(200)}=1`,
].map((query) => `GET /api/v1/series?metric=gpu_power_watts&${query} HTTP/1.1\r\n${end}`)
const OTHER = [
  'GET /api/v1/incidents?limit=1e9 HTTP/1.1',
  'GET /api/v1/incidents?__proto__=1 HTTP/1.1',
  'GET /api/v1/incidents?kind=constructor HTTP/1.1',
  'GET /api/v1/incidents?since=-5 HTTP/1.1',
  'GET /api/v1/incidents/__proto__ HTTP/1.1',
  'GET /runbooks/__proto__ HTTP/1.1',
  'GET /runbooks/constructor HTTP/1.1',
  'GET /api/v1/containers/constructor/settings HTTP/1.1',
  'GET /api/v1/fit?params=1e308B HTTP/1.1',
  'GET /api/v1/fit?params=-7B HTTP/1.1',
  'GET /api/v1/fit?params=7B&batch=1e308 HTTP/1.1',
  'GET /api/v1/fit?params=7B&__proto__=1 HTTP/1.1',
  'GET /api/v1/series?metric=__proto__ HTTP/1.1',
  'GET /api/v1/series?metric=constructor&toString=1 HTTP/1.1',
  'GET /api/v1/series?metric=gpu_power_watts&from=0&to=9007199254740991&points=5000 HTTP/1.1',
  'GET /api/v1/series?metric=gpu_power_watts&__proto__=1&constructor=2 HTTP/1.1',
].map((line) => `${line}\r\n${end}`)
/** Questions about something that nobody has: an empty answer is right. */
const EMPTY_IS_RIGHT = new Set(OTHER.slice(-4))

export const httpShapes: AbuseCase = {
  id: 'http-shapes',
  area: 'http',
  fault: `${TRAVERSAL.length} traversals, ${INJECTION.length} broken heads, ${SMUGGLING.length} smuggled requests, ${PROTOTYPE.length} hostile JSON bodies, ${ABSURD.length + OTHER.length} absurd queries`,
  promised: 'each is refused with 4xx or answered with nothing, no file is read, nothing is changed, no answer is 5xx',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: true,
  besideOthers: true,
  async run() {
    await using agent = await startAgent({ scenario: eightH100() })
    const port = portOf(agent.url)
    await sampled(agent, [0])
    const before = agent.pssBytes()
    const wrong: string[] = []
    let sent = 0
    const ask = async (bytes: string): Promise<void> => {
      sent++
      const text = await raw(port, bytes)
      const statuses = statusesIn(text)
      // The page's own index may be what a traversal ends at; a file beside it never.
      const refused = statuses.every((status) => status >= 400 && status < 500) || EMPTY_IS_RIGHT.has(bytes)
      if (!refused || statuses.length > 1 || NEVER.test(text)) wrong.push(`${JSON.stringify(bytes.slice(0, 120))}: ${statuses.join(', ')}`)
    }
    await inParallel([...TRAVERSAL, ...INJECTION, ...PROTOTYPE, ...ABSURD, ...OTHER], 16, ask)
    await inParallel(SMUGGLING, 8, async (bytes) => {
      sent++
      // The first request may be answered; the second must not be.
      const statuses = statusesIn(await raw(port, bytes))
      if (statuses.length > 1 || statuses.some((status) => status >= 500)) wrong.push(`${JSON.stringify(bytes.slice(0, 160))}: ${statuses.join(', ')}`)
    })
    const silences = await agent.get('/api/v1/silences')
    const made = silences.text.split('"id"').length - 1
    // That the port still takes what is right.
    const good = statusesIn(await raw(port, post('/api/v1/silences', '{"kind":"xid","for_ms":60000,"reason":"x"}')))
    return {
      held: wrong.length === 0 && made === 0 && good[0] === 201,
      observed: [
        `${sent} requests, ${wrong.length} answered otherwise, ${made} changes; ${mib(agent.pssBytes() - before)} more memory`,
        ...wrong.slice(0, 8),
      ].join('; '),
    }
  },
}
