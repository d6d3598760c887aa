// HTTP servers on loopback, on a free port unless one is named, that answer as a test wants, well or badly.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net'

export type Listening = { readonly url: string; readonly port: number; readonly close: () => Promise<void> }

async function listening(server: RawServer, scheme: string, end: () => void, port = 0): Promise<Listening> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error(`expected a TCP address, came ${String(address)}`)
  return {
    url: `${scheme}://127.0.0.1:${address.port}`,
    port: address.port,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      end()
      await closed
    },
  }
}

export async function webServer(answer: RequestListener, port = 0): Promise<Listening> {
  const server: Server = createServer(answer)
  return listening(server, 'http', () => server.closeAllConnections(), port)
}
export async function tlsServer(pair: { readonly key: string; readonly cert: string }, answer: RequestListener): Promise<Listening> {
  const server = createTlsServer(pair, answer)
  return listening(server, 'https', () => server.closeAllConnections())
}
/** Below HTTP: whatever is done with the connection. */
export async function rawServer(onSocket: (socket: Socket) => void): Promise<Listening> {
  const open = new Set<Socket>()
  const server = createRawServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    onSocket(socket)
  })
  return listening(server, 'http', () => {
    for (const socket of open) socket.destroy()
  })
}
