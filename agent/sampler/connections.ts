// Connections that the child makes inside other network namespaces and hands over: what was asked, until the socket or a reason comes.
import { Socket } from 'node:net'
import type { ConnectRequest, Connection } from './protocol.ts'

export type ConnectInside = (place: Pick<ConnectRequest, 'namespace' | 'host' | 'port'>) => Promise<Socket>
export type Connections = {
  readonly connect: ConnectInside
  /** Whether the message was an answer of this kind. */
  readonly take: (message: unknown, handle: unknown) => boolean
  /** The child is no more. */
  readonly end: () => void
}

const WAIT_MS = 2_000
const MAX_OPEN = 64

const isAnswer = (message: unknown): message is Connection =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === 'connection' && 'id' in message && typeof message.id === 'number'

export function createConnections(send: (request: ConnectRequest) => void): Connections {
  const open = new Map<number, { readonly settle: (answer: Socket | Error) => void }>()
  let nextId = 1
  return {
    async connect(place) {
      if (open.size >= MAX_OPEN) throw new Error(`${open.size} connections are being made already`)
      const id = nextId++
      const { promise, resolve, reject } = Promise.withResolvers<Socket>()
      const timer = setTimeout(() => settle(new Error(`the child that makes connections did not answer within ${WAIT_MS} ms`)), WAIT_MS)
      const settle = (answer: Socket | Error): void => {
        clearTimeout(timer)
        open.delete(id)
        if (answer instanceof Socket) resolve(answer)
        else reject(answer)
      }
      open.set(id, { settle })
      send({ type: 'connect', id, ...place })
      return promise
    },
    take(message, handle) {
      if (!isAnswer(message)) return false
      const asked = open.get(message.id)
      // One that comes too late is nobody's.
      if (asked === undefined) {
        if (handle instanceof Socket) handle.destroy()
      } else if (handle instanceof Socket) asked.settle(handle)
      else asked.settle(new Error(typeof message.error === 'string' ? message.error.slice(0, 300) : 'the connection was lost on its way'))
      return true
    },
    end() {
      for (const { settle } of open.values()) settle(new Error('the child that makes connections has ended'))
    },
  }
}
