// Connections to a server by the first of its ways that works; that one is tried first from then on.
import { connect as connectTcp, type Socket } from 'node:net'
import type { ConnectInside } from '../../sampler/connections.ts'
import { lineOf } from '../../text/error.ts'
import { holdSocket } from './held-socket.ts'
import type { Way } from './reach.ts'

const TIMEOUT_MS = 1_000

/** Resolves when it stands; an address that does not answer must not take the time of the next way. */
async function standing(socket: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const settled = (): void => {
    clearTimeout(timer)
    socket.off('error', failed).off('connect', stands)
  }
  const stands = (): void => {
    settled()
    resolve(socket)
  }
  const failed = (error: Error): void => {
    settled()
    socket.destroy()
    reject(error)
  }
  const timer = setTimeout(() => failed(new Error(`no connection within ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  socket.once('connect', stands).once('error', failed)
  return promise
}

async function go(way: Way, connectInside: ConnectInside | undefined): Promise<Socket> {
  if (way.kind === 'tcp') return standing(connectTcp({ host: way.host, port: way.port }))
  if (way.kind === 'unix') return standing(holdSocket(way.process, way.path).connect())
  if (connectInside === undefined) throw new Error('the source of GPUs, which makes such connections, is not on')
  return connectInside({ namespace: way.namespace, host: way.host, port: way.port })
}
const nameOf = (way: Way): string =>
  way.kind === 'tcp' ? `${way.host}:${way.port}` : way.kind === 'unix' ? way.path : `${way.host}:${way.port} of its network namespace`

export function createDialer(ways: readonly [Way, ...Way[]], connectInside: () => ConnectInside | undefined): () => Promise<Socket> {
  let [first] = ways
  return async () => {
    const failures: string[] = []
    for (const way of [first, ...ways.filter((one) => one !== first)]) {
      try {
        const socket = await go(way, connectInside())
        first = way
        return socket
      } catch (error) {
        failures.push(`${nameOf(way)}: ${lineOf(error)}`)
      }
    }
    throw new Error(failures.join('; '))
  }
}
