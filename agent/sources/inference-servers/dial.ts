// Connections to a server by the first of its ways that works; that one is tried first from then on.
import { connect as connectTcp, type Socket } from 'node:net'
import type { TakePiece } from '../../lib/kept-client.ts'
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

/** All connections read into one buffer, one after the other: a new one for each reading would be 64 KiB of garbage. */
const shared = Buffer.allocUnsafeSlow(64 * 2 ** 10)
function tcp({ host, port }: Extract<Way, { kind: 'tcp' }>, take: TakePiece | undefined): Socket {
  if (take === undefined) return connectTcp({ host, port })
  const callback = (bytes: number): boolean => {
    take(shared.subarray(0, bytes))
    return true
  }
  return connectTcp({ host, port, onread: { buffer: shared, callback } })
}

async function go(way: Way, connectInside: ConnectInside | undefined, take: TakePiece | undefined): Promise<Socket> {
  if (way.kind === 'tcp') return standing(tcp(way, take))
  const socket = await other(way, connectInside)
  return take === undefined ? socket : socket.on('data', take)
}
async function other(way: Exclude<Way, { kind: 'tcp' }>, connectInside: ConnectInside | undefined): Promise<Socket> {
  if (way.kind === 'unix') return standing(holdSocket(way.process, way.path).connect())
  if (connectInside === undefined) throw new Error('the source of GPUs, which makes such connections, is not on')
  return connectInside({ namespace: way.namespace, host: way.host, port: way.port })
}
const nameOf = (way: Way): string =>
  way.kind === 'tcp' ? `${way.host}:${way.port}` : way.kind === 'unix' ? way.path : `${way.host}:${way.port} of its network namespace`

/** `take` gets what comes on the connection, in place of the socket's own events. */
export type Dial = (take?: TakePiece) => Promise<Socket>

export function createDialer(ways: readonly [Way, ...Way[]], connectInside: () => ConnectInside | undefined): Dial {
  let [first] = ways
  return async (take) => {
    const failures: string[] = []
    for (const way of [first, ...ways.filter((one) => one !== first)]) {
      try {
        const socket = await go(way, connectInside(), take)
        first = way
        return socket
      } catch (error) {
        failures.push(`${nameOf(way)}: ${lineOf(error)}`)
      }
    }
    throw new Error(failures.join('; '))
  }
}
