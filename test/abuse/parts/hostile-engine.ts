// A container engine on a Unix socket that misbehaves: whatever a handler does with a request, below and above HTTP.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createRawServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type HostileEngine = { readonly socketPath: string; readonly calls: () => number; readonly [Symbol.asyncDispose]: () => Promise<void> }

async function serve(make: (count: () => void) => Server): Promise<HostileEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-abuse-engine-'))
  const socketPath = join(folder, 'engine.sock')
  const open = new Set<Socket>()
  let calls = 0
  const server = make(() => void calls++)
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(socketPath, () => resolve()))
  return {
    socketPath,
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const httpEngine = (answer: (path: string, response: ServerResponse, request: IncomingMessage) => void): Promise<HostileEngine> =>
  serve((count) =>
    createServer((request, response) => {
      count()
      response.on('error', () => {})
      answer(request.url ?? '', response, request)
    }),
  )

/** Each connection, once its first bytes have come. */
export const rawEngine = (answer: (socket: Socket) => void): Promise<HostileEngine> =>
  serve((count) =>
    createRawServer((socket) => {
      socket.once('data', () => {
        count()
        answer(socket)
      })
    }),
  )

/** Writes as fast as it is taken, until `bytes` are written or the reader is gone. */
export function pour(into: Socket | ServerResponse, part: Buffer, bytes: number): void {
  let written = 0
  const more = (): void => {
    while (written < bytes) {
      if (into.destroyed) return
      written += part.length
      if (!into.write(part)) return void into.once('drain', more)
    }
    into.end()
  }
  more()
}
