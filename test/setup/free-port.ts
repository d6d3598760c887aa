// A port of loopback that nobody listens on, for programs that must be told theirs.
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that Linux gives to connections and to `listen(0)` (ip_local_port_range, from 32768): nobody but another caller takes one by chance. */
const [FIRST, LAST] = [20_000, 32_000]

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    const server = createServer().listen(port, '127.0.0.1')
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
export const freeAddress = async (): Promise<string> => `127.0.0.1:${await freePort()}`
