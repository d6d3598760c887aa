// A port of loopback that nobody listens on: that of a server that has just been closed.
import { once } from 'node:events'
import { createServer } from 'node:net'

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error(`expected a TCP address, came ${String(address)}`)
  return address.port
}
export const freeAddress = async (): Promise<string> => `127.0.0.1:${await freePort()}`
