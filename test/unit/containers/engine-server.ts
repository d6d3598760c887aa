// A real HTTP server on a unix socket that speaks as much of the Engine API as a test needs, and misbehaves when told to.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Handler = (path: string, answer: ServerResponse, call: IncomingMessage) => void
export type EngineServer = {
  readonly socketPath: string
  handle: Handler
  /** Paths asked for, in order. */
  readonly calls: string[]
  /** Sends an event to all who follow. */
  readonly event: (event: unknown) => void
  readonly followers: () => number
  /** Ends the event streams, as an engine that restarts. */
  readonly endStreams: () => void
  readonly listen: () => Promise<void>
  /** Stops listening and breaks all connections; the socket file goes. */
  readonly unlisten: () => Promise<void>
  readonly close: () => Promise<void>
}

export const json = (answer: ServerResponse, status: number, body: unknown): void => {
  answer.writeHead(status, { 'content-type': 'application/json' })
  answer.end(JSON.stringify(body))
}

export const idOf = (digit: string): string => digit.repeat(64)
export const listed = (id: string, name: string, own: object = {}): object => ({
  Id: id,
  Names: [`/${name}`],
  Image: 'img:1',
  Labels: null,
  State: 'running',
  ...own,
})
export const inspected = (id: string, name: string, own: { readonly state?: object; readonly config?: object; readonly rest?: object } = {}): object => ({
  Id: id,
  Name: `/${name}`,
  RestartCount: 2,
  State: { Status: 'running', Running: true, Pid: 1, StartedAt: '2026-11-20T08:00:00.5Z', ...own.state },
  Config: { Image: 'img:1', Env: null, Labels: {}, ...own.config },
  HostConfig: { Runtime: 'runc', DeviceRequests: null, Devices: null },
  ...own.rest,
})

export async function startEngineServer(): Promise<EngineServer> {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-engine-'))
  const streams = new Set<ServerResponse>()
  const server = createServer((call, answer) => {
    const path = call.url ?? ''
    made.calls.push(path)
    made.handle(path, answer, call)
    if (path.startsWith('/events') && !answer.headersSent && !answer.writableEnded && !answer.destroyed) {
      answer.writeHead(200)
      answer.flushHeaders()
      streams.add(answer)
      answer.on('close', () => streams.delete(answer))
    }
  })
  const made: EngineServer = {
    socketPath: join(directory, 'engine.sock'),
    calls: [],
    handle: (_path, answer) => json(answer, 404, { message: 'page not found' }),
    event: (event) => {
      for (const stream of streams) stream.write(typeof event === 'string' ? event : `${JSON.stringify(event)}\n`)
    },
    followers: () => streams.size,
    endStreams: () => {
      for (const stream of streams) stream.end()
    },
    listen: async () => await new Promise((resolve) => server.listen(made.socketPath, () => resolve())),
    unlisten: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
    close: async () => {
      if (server.listening) await made.unlisten()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await made.listen()
  return made
}

/** A well-behaved engine with these containers; changes to the map show at once. */
export function serveContainers(containers: ReadonlyMap<string, { readonly list: object; readonly inspect: object }>): Handler {
  return (path, answer) => {
    if (path.startsWith('/events')) return
    if (path === '/containers/json')
      return json(
        answer,
        200,
        [...containers.values()].map(({ list }) => list),
      )
    const id = /^\/containers\/([0-9a-f]{64})\/json$/.exec(path)?.[1]
    const found = id === undefined ? undefined : containers.get(id)
    if (found === undefined) json(answer, 404, { message: `No such container: ${id}` })
    else json(answer, 200, found.inspect)
  }
}
