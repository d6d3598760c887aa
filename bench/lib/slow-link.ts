// A link in front of a server: so many bits a second in either direction, so long a way, and what went over it counted.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type SlowLink = { readonly url: string; readonly bytes: () => number; readonly close: () => void }

/** One direction, shared by all connections: bytes leave one after the other, and arrive half a round trip later. */
function createLane(bytesPerMs: number, wayMs: number, count: (bytes: number) => void) {
  let freeAt = 0
  return (from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => {
      count(chunk.length)
      freeAt = Math.max(freeAt, performance.now()) + chunk.length / bytesPerMs
      setTimeout(() => to.writable && to.write(chunk), freeAt + wayMs - performance.now())
    })
    from.on('end', () => setTimeout(() => to.end(), Math.max(0, freeAt - performance.now()) + wayMs + 5))
    from.on('error', () => to.destroy())
  }
}

export async function startSlowLink(
  target: string,
  { bitsPerSecond, roundTripMs }: { readonly bitsPerSecond: number; readonly roundTripMs: number },
): Promise<SlowLink> {
  const { hostname, port } = new URL(target)
  let bytes = 0
  const lane = () => createLane(bitsPerSecond / 8 / 1000, roundTripMs / 2, (more) => (bytes += more))
  const [up, down] = [lane(), lane()]
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const agent = connect(Number(port), hostname)
    for (const socket of [client, agent]) {
      sockets.add(socket.setNoDelay(true))
      socket.on('close', () => sockets.delete(socket))
    }
    up(client, agent)
    down(agent, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const isOpen = (value: AddressInfo | string | null): value is AddressInfo => typeof value === 'object' && value !== null
  if (!isOpen(address)) throw new Error('slow link: expected a port, came none')
  return {
    url: `http://127.0.0.1:${address.port}`,
    bytes: () => bytes,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
