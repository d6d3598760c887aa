// Who gets in: every path of the API × method × spelling × token × Host × Origin, on each way to open the port, against the rule in one place below.
import { compiler } from '../../fakes/nvml/build.ts'
import { MARKERS, MODES, open, pathsOf, TOKEN, type Opened } from '../parts/access-modes.ts'
import { createSender, inParallel, type Sent } from '../parts/requests.ts'
import type { AbuseCase } from '../abuse-case.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'] as const
const TOKENS = {
  none: {},
  wrong: { Authorization: 'Bearer wrong' },
  longer: { Authorization: `Bearer ${TOKEN}x` },
  basic: { Authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` },
  right: { Authorization: `Bearer ${TOKEN}` },
} as const
const TOKEN_NAMES = ['none', 'wrong', 'longer', 'basic', 'right'] as const
const HOSTS = ['own', 'evil.example', 'localhost.evil.example', '127.0.0.1.evil.example'] as const
const ORIGINS = [undefined, 'own', 'http://evil.example', 'null', 'http://localhost.evil.example'] as const
const firstEncoded = (path: string): string => `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`
const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `http://localhost${path}`,
  (path) => `http://evil.example${path}`,
  firstEncoded,
  (path) => `http://localhost${firstEncoded(path)}`,
  (path) => `/.${path}`,
  (path) => `/%2e${path}`,
  (path) => `/assets/..${path}`,
  (path) => `/runbooks/%2E%2e${path}`,
  (path) => `/${path}`,
  (path) => `${path}${path.includes('?') ? '&' : '?'}token=${TOKEN}&access_token=${TOKEN}`,
  (path) => `${path.replace('?', '/?')}#x`,
]

type Combination = {
  readonly path: string
  readonly spelling: number
  readonly method: string
  readonly token: keyof typeof TOKENS
  readonly host: (typeof HOSTS)[number]
  readonly origin: (typeof ORIGINS)[number]
}

/** The page of another host is this one's own. */
const isPublic = (path: string): boolean =>
  path === '/' || path === '/hosts/other/' || path === '/healthz' || path === '/readyz' || path.startsWith('/runbooks')

/** The rule of SECURITY.md, written down apart from the agent's code. */
function allowed({ mode }: Opened, { path, method, token, host, origin }: Combination): boolean {
  if (mode.listen.startsWith('127.') && host !== 'own') return false
  if (mode.token && token !== 'right' && !isPublic(path)) return false
  if (method === 'GET' || method === 'HEAD') return !(mode.insecure && path.endsWith('/log'))
  if (origin !== undefined && origin !== 'own') return false
  return path === '/api/v1/fit' || path === '/mcp' || !mode.insecure
}

function* combinations(opened: Opened): Generator<Combination> {
  for (const path of pathsOf(opened)) {
    for (const [spelling] of SPELLINGS.entries())
      for (const method of METHODS)
        for (const token of TOKEN_NAMES) for (const host of HOSTS) for (const origin of ORIGINS) yield { path, spelling, method, token, host, origin }
  }
}

function requestOf({ port }: Opened, { path, spelling, method, token, host, origin }: Combination): Sent {
  const own = `127.0.0.1:${port}`
  return {
    method,
    target: SPELLINGS[spelling]?.(path) ?? path,
    headers: {
      Host: host === 'own' ? own : `${host}:${port}`,
      ...TOKENS[token],
      ...(origin === undefined ? {} : { Origin: origin === 'own' ? `http://${own}` : origin }),
      ...(method === 'OPTIONS' ? { 'Access-Control-Request-Method': 'POST' } : {}),
      'Content-Type': 'application/json',
    },
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: '{"kind":"xid","for_ms":60000,"reason":"abuse"}' }),
  }
}

/** Primes, so that a stride meets all values of all dimensions together. */
const STRIDE = { short: 1_009, long: 11 }

async function tryAll(opened: Opened, stride: number): Promise<{ readonly sent: number; readonly refused: number; readonly wrong: readonly string[] }> {
  const { send, close } = createSender(opened.port)
  const wrong: string[] = []
  let [at, sent, refused] = [0, 0, 0]
  const chosen = (function* () {
    for (const one of combinations(opened)) if (at++ % stride === 0) yield one
  })()
  await inParallel(chosen, 8, async (one) => {
    const may = allowed(opened, one)
    // What is allowed to change something would do so; that it can is asked once, at the end.
    if (may && one.method !== 'GET' && one.method !== 'HEAD') return
    sent++
    const what = `${opened.mode.name}: ${one.method} ${SPELLINGS[one.spelling]?.(one.path)} (token ${one.token}, Host ${one.host}, Origin ${one.origin})`
    const got = await send(requestOf(opened, one))
    if (got.headers['access-control-allow-origin'] !== undefined) wrong.push(`${what}: may be read by ${got.headers['access-control-allow-origin']}`)
    // The other host is not there, which its answers say.
    if (got.status >= 500 && one.path !== '/readyz' && !(one.path.startsWith('/hosts/') && got.status === 502)) wrong.push(`${what}: status ${got.status}`)
    if (may) return
    refused++
    // A spelling of a protected path may be that of another, public one, such as `/#x`: what counts is that it says nothing of the host.
    const leaked = MARKERS.some((marker) => got.text.includes(marker))
    if (got.status < 400 || leaked) wrong.push(`${what}: status ${got.status}${leaked ? ', with data of the host' : ''}`)
  })
  close()
  return { sent, refused, wrong }
}

/** What strangers may have changed, and that the owner can still read and change everything: without that no refusal would prove anything. */
async function controls(opened: Opened): Promise<readonly string[]> {
  const wrong: string[] = []
  const { mode, incident, silence } = opened
  const expect = (what: string, holds: boolean): void => void (holds || wrong.push(`${mode.name}: ${what}`))
  const silences = (await opened.read('/api/v1/silences')).text
  expect(`a silence that nobody may make: ${silences.slice(0, 200)}`, silences.split('"id"').length - 1 === (mode.insecure ? 0 : 1))
  const whole = (await opened.read(`/api/v1/incidents/${incident}`)).text
  expect('the incident is acknowledged or resolved', whole.includes('"status":"firing"') && !whole.includes('"acknowledged"'))
  for (const path of ['/metrics', '/api/v1/gpus', '/api/v1/series?metric=gpu_power_watts'])
    expect(`${path} does not show the GPU to its owner`, (await opened.read(path)).text.includes(MARKERS[0] ?? ''))
  const acknowledged = await opened.write('POST', `/api/v1/incidents/${incident}/ack`, '{"by":"owner"}')
  expect(`the owner's acknowledgement: ${acknowledged.status}`, acknowledged.status === (mode.insecure ? 403 : 200))
  const ended = await opened.write('DELETE', `/api/v1/silences/${silence}`, '')
  expect(`the owner's end of a silence: ${ended.status}`, ended.status === (mode.insecure ? 403 : 204))
  return wrong
}

export const httpMatrix: AbuseCase = {
  id: 'http-matrix',
  area: 'http',
  fault: 'every path × method × spelling × token × Host × Origin, on loopback and open, with and without token',
  promised: 'who lacks the token, or comes under a foreign name or Origin, gets no data and changes nothing',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: true,
  besideOthers: true,
  async run({ short }) {
    const all = await Promise.all(MODES.map(open))
    try {
      const tried = await Promise.all(all.map((opened) => tryAll(opened, short ? STRIDE.short : STRIDE.long)))
      const wrong = [...tried.flatMap((one) => one.wrong), ...(await Promise.all(all.map(controls))).flat()]
      const sum = (figure: 'sent' | 'refused'): number => tried.reduce((total, one) => total + one[figure], 0)
      const observed = `${sum('sent')} requests in ${MODES.length} modes, ${sum('refused')} of strangers: ${wrong.length} let in`
      return { held: wrong.length === 0 && sum('refused') > 1_000, observed: [observed, ...wrong.slice(0, 5)].join('; ') }
    } finally {
      await Promise.all(all.map(({ close }) => close()))
    }
  },
}
