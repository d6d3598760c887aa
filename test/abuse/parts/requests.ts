// HTTP as an attacker sends it: any method, target and headers over kept connections, and bytes that are no HTTP at all.
import { Agent, request, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export type Sent = {
  readonly method: string
  /** The request target as it is, also `http://HOST/PATH`. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}
export type Got = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly text: string }

/** Sends through at most `connections` kept connections; an answer that does not come is an error, not a refusal. */
export function createSender(port: number, connections = 8) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const send = ({ method, target, headers, body }: Sent): Promise<Got> => {
    const { promise, resolve, reject } = Promise.withResolvers<Got>()
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const call = request({ host: '127.0.0.1', port, agent, method, path: target, setHost: false, headers: { ...headers, ...length } })
    const whole = (answer: IncomingMessage, socket?: Duplex): void => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() }))
      answer.on('error', reject)
      // An upgrade or a tunnel has no body: that it was granted is all that counts.
      if (socket !== undefined) {
        socket.destroy()
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: '' })
      }
    }
    call.on('response', (answer) => whole(answer))
    call.on('upgrade', whole)
    call.on('connect', whole)
    call.on('error', reject)
    call.end(body)
    return promise
  }
  return { send, close: () => agent.destroy() }
}

/** All that `each` makes of the items, so many of them at a time. */
export async function inParallel<T>(items: Iterable<T>, atOnce: number, each: (item: T) => Promise<void>): Promise<void> {
  const next = items[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let item = next.next(); item.done !== true; item = next.next()) await each(item.value)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

export const portOf = (url: string): number => Number(new URL(url).port)

/** Bytes as they are; gives what came until the agent closed the connection, or until `enough` says so. */
export async function raw(port: number, bytes: string | Buffer, enough: (text: string) => boolean = () => false, withinMs = 20_000): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  let text = ''
  const late = setTimeout(() => {
    socket.destroy()
    reject(new Error(`expected an answer or the end of the connection within ${withinMs} ms, came ${JSON.stringify(text.slice(0, 200))}`))
  }, withinMs)
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
    if (enough(text)) socket.destroy()
  })
  socket.on('error', () => {}) // a connection that is reset has ended too
  socket.on('close', () => {
    clearTimeout(late)
    resolve(text)
  })
  return promise
}

/** An open connection on which nothing was sent yet. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve)
    socket.once('close', () => resolve())
  })
  return socket
}

export const statusesIn = (text: string): number[] => [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
