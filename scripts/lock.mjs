// One at a time among `npm start`, `npm test` and the rest in one clone. Runs on any Node >= 18.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, connect } from 'node:net'

/**
 * Runs `work` while no other process of this machine runs work under the same name. The lock is a socket in Linux' abstract
 * namespace: it needs no file, so it works in a read-only clone, and the kernel frees it however its holder ends.
 * `waiting` is called once when another process holds it.
 */
export async function withLock(name, waiting, work) {
  const path = `\0warpwatch-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  let told = false
  for (;;) {
    const waiters = new Set()
    const server = createServer((waiter) => waiters.add(waiter.on('error', () => {}))).listen(path)
    const [error] = await Promise.race([once(server, 'listening').then(() => []), once(server, 'error')])
    if (error === undefined) {
      try {
        return await work()
      } finally {
        server.close()
        for (const waiter of waiters) waiter.destroy()
      }
    }
    if (error.code !== 'EADDRINUSE') throw new Error(`cannot take the lock for ${name}: ${error.message}`, { cause: error })
    if (!told) waiting()
    told = true
    // The connection lives as long as the holder holds; refused means that it has just let go.
    const holder = connect(path)
    await new Promise((resolve) =>
      holder
        .resume()
        .once('close', resolve)
        .once('error', () => {}),
    )
  }
}
