// A real HTTP proxy on loopback: CONNECT tunnels and requests in absolute form, all of which it takes to one port of this host, whatever name is asked for.
import { createServer, request as ask, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type ProxyServer = {
  readonly port: number
  /** `CONNECT host:port`, `GET http://host/path`, in order. */
  readonly asked: readonly string[]
  /** What each request brought as proxy-authorization, in order. */
  readonly credentials: readonly (string | undefined)[]
  /** Open connections of clients. */
  readonly open: () => number
  readonly close: () => Promise<void>
}
export type ProxyOptions = {
  /** The port behind it. */
  readonly to: number
  /** `Basic …`; without it everybody is served, with it others get 407. */
  readonly authorization?: string
  /** It takes connections and never answers. */
  readonly silent?: boolean
  /** The proxy itself speaks TLS. */
  readonly pair?: { readonly key: string; readonly cert: string }
}

/** Names that begin with `refused` get 403, with `gone` 502. */
const refusalOf = (target: string): string | undefined => (target.startsWith('refused') ? '403 No' : target.startsWith('gone') ? '502 Bad Gateway' : undefined)

export async function startProxy({ to, authorization, silent = false, pair }: ProxyOptions): Promise<ProxyServer> {
  const asked: string[] = []
  const credentials: (string | undefined)[] = []
  const clients = new Set<Socket>()
  const came = ({ method, url, headers }: IncomingMessage): string | undefined => {
    asked.push(`${method} ${url}`)
    credentials.push(headers['proxy-authorization'])
    if (authorization !== undefined && headers['proxy-authorization'] !== authorization) return '407 Proxy Authentication Required'
    return refusalOf(new URL(method === 'CONNECT' ? `http://${url}` : (url ?? '')).hostname)
  }
  const server = pair === undefined ? createServer() : createTlsServer(pair)
  server.on('connection', (socket: Socket) => {
    clients.add(socket)
    socket.on('close', () => clients.delete(socket))
    socket.on('error', () => {})
  })
  server.on('request', (request, response) => {
    const refused = came(request)
    if (silent) return
    if (refused !== undefined) {
      response.writeHead(Number(refused.slice(0, 3))).end()
      return
    }
    const { pathname, search } = new URL(request.url ?? '')
    const onward = ask({ host: '127.0.0.1', port: to, path: `${pathname}${search}`, method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {})
    const refused = came(request)
    if (silent) {
      // A connection that is not read from never notices that the other side ended it.
      socket.on('end', () => socket.destroy()).resume()
      return
    }
    if (refused !== undefined) {
      socket.end(`HTTP/1.1 ${refused}\r\n\r\n`)
      return
    }
    const behind = connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      behind.pipe(socket).pipe(behind)
    })
    behind.on('error', () => socket.destroy())
    socket.on('close', () => behind.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error(`expected a TCP address, came ${String(address)}`)
  return {
    port: address.port,
    asked,
    credentials,
    open: () => clients.size,
    async close() {
      for (const client of clients) client.destroy()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
