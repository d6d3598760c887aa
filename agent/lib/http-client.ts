// Requests to others: notifiers, OTLP receivers, targets, container engines. One place for deadlines, bounded answers, redirects, certificates, proxies and
// errors without secrets. Node's own http: fetch (undici) costs 14 MiB and cannot ask a Unix socket.
import { Agent as PlainAgent, request as overHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type * as Https from 'node:https'
import { startDeadline } from './deadline.ts'
import { lineOf } from '../text/error.ts'
import { ProxyError, proxyRules, type ProxyFor } from './proxy.ts'
import { mayFollow, REDIRECTS } from './redirect.ts'
import { VERSION } from './version.ts'

export type HttpClientOptions = {
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
  /** PEM; instead of the authorities that Node trusts. */
  readonly ca?: Buffer
  /** Of a Unix socket, which is asked whatever the URL's host is, never through a proxy. */
  readonly socketPath?: string
  /** Makes each connection itself, whatever the URL's host is, never through a proxy. */
  readonly connect?: () => Promise<Socket>
  /** Connections to one host that are kept and used again; without it each request has its own. */
  readonly keep?: number
}
export type HttpCall = {
  readonly url: URL
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}
export type HttpRequest = HttpCall & {
  /** From the start to the last byte of the answer, redirects included. */
  readonly timeoutMs: number
  /** Of a body; the rest is not read. */
  readonly maxBytes: number
  /** How many redirects on the same host are followed; 0: a redirect is an answer. */
  readonly redirects?: number
}
export type HttpAnswer = {
  readonly status: number
  readonly statusText: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** There was more than `maxBytes`. */
  readonly cut: boolean
}
export type HttpFailure = {
  readonly kind: 'timeout' | 'aborted' | 'redirect' | 'error'
  /** For people; of URLs it has the host alone. */
  readonly text: string
  /** Of kind `error`. */
  readonly error?: unknown
  /** Known before it failed. */
  readonly status?: number
  /** A connection stood, so the receiver may have got the request. */
  readonly connected: boolean
  /** The host of the proxy that the request went to. */
  readonly proxy?: string
  /** Where a redirect leads that is not followed; absent where that is no URL. */
  readonly to?: URL
}
export type HttpResult = { readonly answer: HttpAnswer } | { readonly failure: HttpFailure }

export type HttpClient = {
  /** Never throws. */
  readonly exchange: (request: HttpRequest) => Promise<HttpResult>
  /** The head of an answer whose body the caller reads, without a deadline. Rejects with Node's error. */
  readonly open: (call: HttpCall) => Promise<IncomingMessage>
  /** Ends what is on its way on kept connections. */
  readonly close: () => void
}

/** Loaded by the first request that needs it: with it comes Node's TLS, which parses all its certificates on a thread of its own, 1.2 MiB. */
const tls = (): typeof Https => process.getBuiltinModule('node:https')

/** Of a URL in an error only the host: paths and queries of webhooks are secrets. */
const withoutUrls = (text: string): string => text.replace(/\bhttps?:\/\/(?:[^\s/@]*@)?([^\s/?#]*)\S*/gi, '$1')

/** The agents of older versions take `proxyEnv` and do nothing with it: the request would go past the proxy. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const SPEAKS_TO_PROXIES = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)

/** Behind our own deadline, which says it better. */
const TUNNEL_LATER_MS = 500

type Progress = { connected: boolean; status?: number; proxy?: string; end?: (error: Error) => void }

/** At most `maxBytes`. A body that breaks off is an error although the status is known. */
export async function readBody(answer: IncomingMessage, maxBytes: number): Promise<{ readonly body: Buffer; readonly cut: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  // By its events: an iterator makes 4 kB of garbage for each answer.
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  answer.on('data', (chunk: Buffer) => {
    if (bytes > maxBytes) return
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes <= maxBytes) return
    resolve(undefined)
    answer.destroy() // ends the connection
  })
  answer.on('end', () => resolve(undefined))
  answer.on('error', reject)
  answer.on('close', () => reject(new Error('the connection ended in the middle of the answer')))
  try {
    await promise
  } finally {
    // The connection, which is kept, knows this answer until the next one: it must not keep its body too.
    answer.removeAllListeners('data')
  }
  // Mostly it comes in one piece: no second one of that size then.
  const pieces = chunks.splice(0)
  const [first] = pieces
  const whole = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
  return { body: whole.subarray(0, maxBytes), cut: bytes > maxBytes }
}

/** Where an answer leads; undefined: it is an answer. A body is sent again, whatever the number: a GET in its place would lose it. */
function ledTo(from: URL, method: string, { status, headers: { location } }: HttpAnswer): { readonly to: URL | undefined; readonly why?: string } | undefined {
  if (!REDIRECTS.has(status) || location === undefined) return undefined
  if (!URL.canParse(location, from.href)) return { to: undefined, why: `status ${status} leads to a place that is no URL` }
  const to = new URL(location, from)
  if ((status === 303 && method !== 'GET') || !mayFollow(from, to))
    return { to, why: `status ${status} leads to ${to.protocol}//${to.host}; only redirects on the same host are followed` }
  // The user's name and password in the URL are for the same host too.
  ;[to.username, to.password] = [from.username, from.password]
  return { to }
}

/** Node asks an agent for a connection, and takes one that comes later by the callback. */
class ConnectedAgent extends PlainAgent {
  readonly #connect: () => Promise<Socket>
  constructor(connect: () => Promise<Socket>, options: ConstructorParameters<typeof PlainAgent>[0]) {
    super(options)
    this.#connect = connect
  }
  override createConnection(_options: unknown, done?: (error: Error | null, socket: Duplex) => void): undefined {
    if (done !== undefined) void this.#make(done)
  }
  async #make(done: (error: Error | null, socket: Duplex) => void): Promise<void> {
    let socket: Socket
    try {
      socket = await this.#connect()
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), new Duplex())
      return
    }
    done(null, socket)
  }
}

export function createHttpClient({
  proxyFor = proxyRules({ proxy: 'environment', no_proxy: [] }),
  ca,
  socketPath,
  connect,
  keep,
}: HttpClientOptions = {}): HttpClient {
  const agents = new Map<string, PlainAgent | Https.Agent>()
  const agentFor = ({ protocol }: URL, proxy: URL | undefined): PlainAgent | Https.Agent => {
    const key = `${protocol} ${proxy?.href ?? ''}`
    const found = agents.get(key)
    if (found !== undefined) return found
    if (proxy !== undefined && !SPEAKS_TO_PROXIES)
      throw new ProxyError(`a proxy is configured, which needs Node 22.21, 24.5 or newer; this is ${process.versions.node}`)
    const options = {
      ...(keep === undefined ? { maxCachedSessions: 0 } : { keepAlive: true, maxSockets: keep }),
      ...(proxy === undefined ? {} : { proxyEnv: { [protocol === 'https:' ? 'https_proxy' : 'http_proxy']: proxy.href } }),
    }
    const made =
      connect !== undefined
        ? new ConnectedAgent(connect, options)
        : protocol === 'https:'
          ? new (tls().Agent)({ ...options, ...(ca === undefined ? {} : { ca }) })
          : new PlainAgent(options)
    agents.set(key, made)
    return made
  }

  const start = async (call: HttpCall, progress: Progress, timeoutMs?: number): Promise<IncomingMessage> => {
    const { url, method = 'GET', headers = {}, body, signal } = call
    const secure = url.protocol === 'https:'
    const proxy = socketPath === undefined && connect === undefined ? proxyFor(url) : undefined
    if (proxy !== undefined) progress.proxy = proxy.host
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const made = (secure ? tls().request : overHttp)(url, {
      method,
      agent: agentFor(url, proxy),
      headers: { 'user-agent': `warpwatch/${VERSION}`, ...headers },
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(signal === undefined ? {} : { signal }),
      // While a proxy has not answered to CONNECT, this alone ends its connection: the request has no socket yet that it could destroy (Node 24.21).
      ...(proxy === undefined || timeoutMs === undefined ? {} : { timeout: timeoutMs + TUNNEL_LATER_MS }),
    })
    progress.end = (error) => {
      // For the same reason it may report no error either.
      reject(error)
      made.destroy(error)
    }
    made.on('socket', (socket) => {
      const stands = (): void => void (progress.connected = true)
      // One that is kept, or that comes through a tunnel, stands already.
      if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', stands)
      else stands()
    })
    made.on('error', reject)
    made.on('response', resolve)
    made.end(body)
    return promise
  }

  const exchange = async (request: HttpRequest): Promise<HttpResult> => {
    const { timeoutMs, maxBytes, redirects = 0, signal, method = 'GET', ...rest } = request
    const progress: Progress = { connected: false }
    const end = (): void => progress.end?.(new Error('given up'))
    const deadline = startDeadline(timeoutMs, end)
    signal?.addEventListener('abort', end, { once: true })
    const known = (): Pick<HttpFailure, 'status' | 'connected' | 'proxy'> => ({
      connected: progress.connected || progress.status !== undefined,
      ...(progress.status === undefined ? {} : { status: progress.status }),
      ...(progress.proxy === undefined ? {} : { proxy: progress.proxy }),
    })
    try {
      let at = request.url
      for (let followed = 0; ; followed++) {
        if (deadline.late() || signal?.aborted === true) throw new Error('given up')
        const head = await start({ ...rest, method, url: at }, progress, timeoutMs)
        progress.status = head.statusCode ?? 0
        const { status } = progress
        const answer: HttpAnswer = { status, statusText: head.statusMessage ?? '', headers: head.headers, ...(await readBody(head, maxBytes)) }
        const led = redirects === 0 ? undefined : ledTo(at, method, answer)
        if (led === undefined) return { answer }
        const why = led.why ?? (followed < redirects ? undefined : `more than ${redirects} redirects`)
        if (why !== undefined || led.to === undefined)
          return { failure: { kind: 'redirect', text: why ?? '', ...known(), ...(led.to === undefined ? {} : { to: led.to }) } }
        at = led.to
      }
    } catch (error) {
      const { status } = progress
      const got = status === undefined ? '' : `status ${status}, then `
      if (signal?.aborted === true) return { failure: { kind: 'aborted', text: 'given up', ...known() } }
      if (deadline.late())
        return { failure: { kind: 'timeout', text: `${got === '' ? 'no answer' : `${got}no whole answer`} within ${timeoutMs} ms`, ...known() } }
      const through = progress.proxy === undefined || progress.connected ? '' : `through the proxy ${progress.proxy}: `
      return { failure: { kind: 'error', text: `${got}${through}${withoutUrls(lineOf(error))}`, error, ...known() } }
    } finally {
      deadline.clear()
      signal?.removeEventListener('abort', end)
    }
  }
  return {
    exchange,
    open: async (call) => start(call, { connected: false }),
    close: () => agents.forEach((agent) => agent.destroy()),
  }
}
