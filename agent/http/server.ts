// The port: guards in front, /metrics straight from the shared page, health and readiness, the live stream on /ws, all else through the app.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from '../model/source.ts'
import { stackOf } from '../text/error.ts'
import { acceptsGzip, metricsFormat } from './accept.ts'
import type { AppOptions } from './app.ts'
import { checkBind, createAccess, type Access, type AccessOptions } from './auth.ts'
import { errorBody, NO_SNIFF, STATUS, type Refusal } from './errors.ts'
import type { Exposition } from './exposition.ts'
import type { Readiness } from './health.ts'
import { guard, MAX_BODY_BYTES, pathOf } from './guards.ts'

/** What the server needs of the live stream; sinks/live.ts is it. */
export type Upgrader = {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, access: Access) => void
  readonly maxReaders: number
  readonly revoke: () => void
  readonly close: () => void | Promise<void>
}

export type HttpServerOptions = AccessOptions &
  Omit<AppOptions, 'onError' | 'now'> & {
    readonly exposition: Exposition
    readonly ready: () => Readiness
    readonly live: Upgrader
    /** Streams of other hosts, by the name of the host; undefined: there are none. */
    readonly relay?: ((name: string, request: IncomingMessage, socket: Duplex, head: Buffer, access: Access) => void) | undefined
    readonly log: Log
    readonly now?: () => number
  }

export type HttpServer = {
  /** Resolves with the base URL, such as http://127.0.0.1:9839. */
  readonly listen: () => Promise<string>
  /** Who may read from now on. Readers of the stream stay, unless the token changed. */
  readonly setAccess: (options: AccessOptions) => void
  /** Ends within a second: open requests may finish, idle connections are closed. */
  readonly close: () => Promise<void>
  /** Open connections, those of the live stream included. */
  readonly connections: () => Promise<number>
}

/** Connections beside those of the live stream: scrapers, API readers, a browser's six per page. */
const OTHER_CONNECTIONS = 512
const CLOSE_WITHIN_MS = 800
/** Requests of one connection whose answers were not taken. Browsers and scrapers wait for each answer; who sends more would have all of them made at once. */
const MAX_UNANSWERED = 8
/** A reader that takes nothing of its answer for so long is gone, and what it was sent is freed. The slowest answer (a notifier's test) takes half of that. */
const TAKEN_WITHIN_MS = 60_000
/** Compressing costs more than sending where the reader is on this machine. */
const isLocal = (address: string | undefined): boolean => address === undefined || /^(::1$|(::ffff:)?127\.)/.test(address)

/** Errors of Node's parser that have a status of their own (`_http_server.js`, socketOnError). */
const BROKEN: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}
const plainAnswer = (status: string): string =>
  `HTTP/1.1 ${status}\r\nConnection: close\r\n${Object.entries(NO_SNIFF)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}Content-Length: 0\r\n\r\n`

function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  const body = errorBody(refusal)
  const { headers } = response.req
  // A body that is refused is not read, so the connection cannot be used again.
  const unread = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES
  const connection = unread || refusal.code === 'too_large' ? { Connection: 'close' } : {}
  response.writeHead(STATUS[refusal.code], { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...connection, ...refusal.headers })
  response.end(body)
}

async function sendMetrics(exposition: Exposition, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const page = exposition.page(metricsFormat(request.headers.accept))
  response.once('close', page.hold())
  const compress = acceptsGzip(request.headers['accept-encoding']) && !isLocal(request.socket.remoteAddress)
  const body = compress ? await page.gzipped() : page.body
  response.writeHead(200, {
    'Content-Type': page.contentType,
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    Vary: 'Accept, Accept-Encoding',
    ...(compress ? { 'Content-Encoding': 'gzip' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'
/** What probes of an orchestrator ask for each few seconds. */
function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Cache-Control': 'no-store', 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}

/** Splits `ADDRESS:PORT`; an empty address means all of them. */
function addressOf(listen: string): { readonly host: string; readonly port: number } {
  const colon = listen.lastIndexOf(':')
  const port = Number(listen.slice(colon + 1))
  if (colon < 0 || !Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`http.listen: must be ADDRESS:PORT, not ${JSON.stringify(listen)}`)
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, '') || '::', port }
}

function listenError(error: NodeJS.ErrnoException, listen: string): Error {
  const { port } = addressOf(listen)
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} is in use already, perhaps by another Warpwatch; \`ss -ltnp 'sport = :${port}'\` shows by whom. Stop that, or take another port: --listen 127.0.0.1:${port + 1}`,
    EACCES: `port ${port} needs more rights; take one above 1023`,
    EADDRNOTAVAIL: 'this machine has no such address',
  }
  return new Error(`http.listen: cannot listen on ${listen}: ${why[error.code ?? ''] ?? error.message}`, { cause: error })
}

export function createHttpServer({ exposition, ready, live, log, now = Date.now, ...options }: HttpServerOptions): HttpServer {
  checkBind(options)
  let access = createAccess(options)
  let { token } = options
  const { relay } = options
  const onError = (error: unknown): void => log.error(`a request failed: ${stackOf(error)}`)
  /** Loaded with the first request that needs it: a host that is only scraped does without it and without Node's fetch, which it brings along (14 MiB). */
  let app: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void>> | undefined
  const toApp = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    app ??= import('./listener.ts').then(({ createListener }) => createListener({ ...options, now, onError }))
    const answer = await app
    await answer(request, response)
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(NO_SNIFF)) response.setHeader(name, value)
    const guarded = guard(access, request)
    if ('refusal' in guarded) return sendRefusal(response, guarded.refusal)
    for (const header in guarded.cors) response.setHeader(header, guarded.cors[header] ?? '')
    if (guarded.preflight) {
      response.writeHead(204).end()
    } else if (guarded.path === '/metrics') {
      await sendMetrics(exposition, request, response)
    } else if (guarded.path === '/healthz' && isRead(request)) {
      sendJson(response, 200, { status: 'ok' })
    } else if (guarded.path === '/readyz' && isRead(request)) {
      const { ready: isReady, ...rest } = ready()
      sendJson(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', ...rest })
    } else if (guarded.path === '/ws') {
      sendRefusal(response, { code: 'bad_request', message: '/ws: this is a plain request; open a WebSocket (Upgrade: websocket)' })
    } else {
      await toApp(request, response)
    }
  }
  const failed = (response: ServerResponse, error: unknown): void => {
    onError(error)
    if (response.headersSent) response.destroy()
    else sendRefusal(response, { code: 'internal', message: 'the agent failed on this request; its log says why' })
  }

  const unanswered = new WeakMap<Socket, number>()
  /** Counts the requests of a connection; false: it has sent too many and is closed. */
  const admit = ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    const count = (unanswered.get(socket) ?? 0) + 1
    if (count > MAX_UNANSWERED) {
      socket.destroy()
      return false
    }
    unanswered.set(socket, count)
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
    return true
  }
  const answers = new WeakMap<Duplex, ServerResponse>()
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (!admit(request, response)) return
    answers.set(request.socket, response)
    void handle(request, response).catch((error: unknown) => failed(response, error))
  }
  const server = createServer(
    { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 5_000 },
    onRequest,
  )
  server.timeout = TAKEN_WITHIN_MS
  // What Node would answer by itself, without our headers: an Expect that it does not know, and what is no HTTP at all.
  server.on('checkExpectation', onRequest)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // In the middle of an answer a second one would be read as a part of it.
    const answer = answers.get(socket)
    const midway = answer?.headersSent === true && !answer.writableFinished
    if (socket.writable && !midway) socket.end(plainAnswer(BROKEN[error.code ?? ''] ?? '400 Bad Request'))
    else socket.destroy()
  })
  server.maxConnections = live.maxReaders + OTHER_CONNECTIONS
  const sockets = new Set<Duplex>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy()) // a peer that is gone before it is answered must not end the agent
    const path = pathOf(request.url)
    const other = /^\/hosts\/([\w.-]{1,63})\/ws$/.exec(path)?.[1]
    if (path === '/ws') live.upgrade(request, socket, head, access)
    else if (other !== undefined && relay !== undefined) relay(other, request, socket, head, access)
    else socket.end(plainAnswer('404 Not Found'))
  })

  return {
    listen: () => listenOn(server, options.listen),
    setAccess(next) {
      checkBind(next)
      access = createAccess(next)
      if (next.token !== '' && next.token !== token) live.revoke()
      token = next.token
    },
    connections: () => new Promise((resolve, reject) => server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))),
    async close() {
      // Readers of the stream get their good-bye first; they would hold the port open else.
      const ended = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const end = setTimeout(() => {
        server.closeAllConnections()
        for (const socket of sockets) socket.destroy()
      }, CLOSE_WITHIN_MS)
      await live.close()
      await ended
      clearTimeout(end)
    },
  }
}

async function listenOn(server: Server, listen: string): Promise<string> {
  const { host, port } = addressOf(listen)
  await new Promise<void>((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException): void => reject(listenError(error, listen))
    server.once('error', refused)
    server.listen({ host, port }, () => {
      server.removeListener('error', refused)
      resolve()
    })
  })
  const bound = server.address()
  const actual = typeof bound === 'object' && bound !== null ? bound.port : port
  // A wildcard address is no address to click on.
  const name = host === '::' || host === '0.0.0.0' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${actual}`
}
