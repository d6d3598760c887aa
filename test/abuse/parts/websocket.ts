// The live stream over a bare socket, so that a reader can be deaf, and frames can be wrong in every way.
import type { Socket } from 'node:net'
import { openSocket } from './requests.ts'

export type Upgrade = { readonly path?: string; readonly headers?: Readonly<Record<string, string>> }

export const upgradeText = (port: number, { path = '/ws', headers = {} }: Upgrade = {}): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${headers['Host'] ?? `127.0.0.1:${port}`}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...Object.entries(headers).flatMap(([name, value]) => (name === 'Host' ? [] : [`${name}: ${value}`])),
    '\r\n',
  ].join('\r\n')

/** A frame of a client, masked as the RFC demands unless `masked` says otherwise; `announced` is a length that is not that of the payload. */
export function clientFrame(
  payload: string | Buffer,
  options: { readonly first?: number; readonly masked?: boolean; readonly announced?: bigint } = {},
): Buffer {
  const { first = 0x81, masked = true } = options
  const body = Buffer.from(payload)
  const size = options.announced ?? BigInt(body.length)
  const head = Buffer.alloc(10)
  head[0] = first
  const bit = masked ? 0x80 : 0
  let used = 2
  if (size < 126n) head[1] = bit | Number(size)
  else if (size < 65_536n) {
    head[1] = bit | 126
    head.writeUInt16BE(Number(size), 2)
    used = 4
  } else {
    head[1] = bit | 127
    head.writeBigUInt64BE(size, 2)
    used = 10
  }
  const mask = Buffer.from([1, 2, 3, 4])
  return Buffer.concat([head.subarray(0, used), ...(masked ? [mask, Buffer.from(body.map((byte, i) => byte ^ (mask[i % 4] ?? 0)))] : [body])])
}

/** What the agent sends after `bytes` until it closes or `enough` holds; the socket is closed then. */
export async function converse(port: number, upgrade: Upgrade, bytes: readonly Buffer[], enough: (text: string) => boolean = () => false): Promise<string> {
  const socket = await openSocket(port)
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
    if (enough(text)) socket.destroy()
  })
  socket.on('close', () => resolve(text))
  socket.write(upgradeText(port, upgrade))
  for (const part of bytes) socket.write(part)
  return promise
}

/** A reader that shakes hands and never reads again. */
export async function deafReader(port: number): Promise<Socket> {
  const socket = await openSocket(port)
  socket.pause()
  socket.write(upgradeText(port))
  return socket
}
