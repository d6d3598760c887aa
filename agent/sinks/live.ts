// The live stream: a sink that sends every reader on /ws the current state, on connect and once per tick, or as rarely as
// it asks. Builds nothing that no reader waits for.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws'
import { readSubprotocol, type Access } from '../http/auth.ts'
import type { Views } from '../http/views.ts'
import type { IncidentMessage, IncidentSummary } from '../model/incident.ts'
import type { Run } from '../model/job.ts'
import type { FrameMessage, HelloMessage } from '../model/live.ts'
import type { Sink, TakesIncidents, TakesTicks } from '../model/sink.ts'
import { AUTH_WITHIN_MS, awaitToken, CLOSE_REFUSED, judge, refuseUpgrade } from './live/handshake.ts'
import { createReader, MAX_BUFFERED_BYTES, type Reader } from './live/reader.ts'

export type LiveSinkOptions = {
  readonly views: Views
  readonly hostname: string
  readonly simulated: boolean
  readonly maxReaders: number
  readonly intervalMs?: number
  readonly pingEveryMs?: number
  readonly authWithinMs?: number
  readonly maxBufferedBytes?: number
  /** What fires now, sent to each reader after the hello. */
  readonly firing?: () => readonly IncidentSummary[]
  /** Jobs that run now or have just ended. */
  readonly jobs?: () => readonly Run[]
}

/** Every reader gets each incident, even one that is behind with its frames. */
export type LiveSink = Sink &
  TakesTicks &
  TakesIncidents & {
    readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, access: Access) => void
    readonly maxReaders: number
    /** Closes every connection: the token under which it was opened does not hold any more. */
    readonly revoke: () => void
    /** Readers that are being sent to. */
    readonly readers: () => number
    /** Connections, those that have yet to say their token included. */
    readonly connections: () => number
    /** Frames built for all readers; those that greet one are not counted. */
    readonly frames: () => number
    /** Bytes that wait in the agent for readers to take them. */
    readonly bufferedBytes: () => number
  }

/** A reader may say its token and its pace, nothing else. */
const MAX_MESSAGE_BYTES = 4 * 1024
/** For the answer to a close; ws waits 30 s, in which a reader that was refused would hold its place. */
const CLOSE_WITHIN_MS = 2_000
/**
 * Compressed readers at most: a frame is compressed for each of them again. Measured: 40 kB of 8 GPUs take 0.4 ms and become 6 kB, which a page on a slow
 * link needs; 1,000 readers would take ten times the CPU and four times the memory (shared reference runtime-facts, section 6).
 */
const MAX_DEFLATED = 16
/** Without a context, as a frame is longer than deflate's window and no reader shall hold one. */
const DEFLATE = { threshold: 2_048, serverNoContextTakeover: true, clientNoContextTakeover: true, zlibDeflateOptions: { level: 3, memLevel: 7 } } as const
/** Connections that have yet to say their token; strangers must not take the places of all readers. */
const MAX_UNKNOWN = 100

function messageOf(incident: IncidentSummary): Buffer {
  const message: IncidentMessage = { type: 'incident', incident }
  return Buffer.from(JSON.stringify(message))
}

export function createLiveSink(options: LiveSinkOptions): LiveSink {
  const { views, hostname, simulated, maxReaders, intervalMs = 1_000, pingEveryMs = 30_000, authWithinMs = AUTH_WITHIN_MS } = options
  const maxBufferedBytes = options.maxBufferedBytes ?? MAX_BUFFERED_BYTES
  // @types/ws does not know `closeTimeout` yet.
  const settings: ServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    closeTimeout: CLOSE_WITHIN_MS,
    handleProtocols: (_offered, request) => readSubprotocol(request.headers['sec-websocket-protocol']).chosen ?? false,
  }
  const server = new WebSocketServer({ ...settings, perMessageDeflate: false })
  const deflating = new WebSocketServer({ ...settings, perMessageDeflate: DEFLATE })
  let deflated = 0
  /** Whether this reader's frames are compressed: while few are, and it offers to take them so. */
  const serverFor = ({ headers }: IncomingMessage): WebSocketServer =>
    deflated < MAX_DEFLATED && headers['sec-websocket-extensions']?.includes('permessage-deflate') === true ? deflating : server
  const readers = new Map<WebSocket, Reader>()
  const sockets = new Set<WebSocket>()
  let skipped = 0
  let frames = 0
  /** Time of the last tick, whoever listened then. */
  let present: number | undefined
  const frameAt = (t: number): Buffer => {
    const { gpus, containers, processes, allocators, servers, progress, host } = views.rows()
    const frame: FrameMessage = { type: 'frame', t, gpus, containers, processes, allocators, servers, host, progress, jobs: options.jobs?.() ?? [] }
    return Buffer.from(JSON.stringify(frame))
  }

  const pings = setInterval(() => {
    for (const reader of readers.values()) if (!reader.ping()) reader.terminate()
  }, pingEveryMs)
  pings.unref()

  const admit = (socket: WebSocket): void => {
    const hello: HelloMessage = { type: 'hello', version: 1, host: hostname, gpus: views.rows().gpus, interval_ms: intervalMs, simulated }
    socket.send(JSON.stringify(hello))
    const reader = createReader(socket, maxBufferedBytes)
    readers.set(socket, reader)
    for (const incident of options.firing?.() ?? []) reader.certain(messageOf(incident))
    // The present at once: a page that waits for the next tick stays empty for up to a second.
    if (present !== undefined) reader.frame(frameAt(present))
  }
  const connected = (socket: WebSocket, access: Access, authenticated: boolean): void => {
    sockets.add(socket)
    const counted = socket.extensions === '' ? 0 : 1
    deflated += counted
    socket.on('error', () => socket.terminate()) // a broken peer, or a message that is too large: 'close' follows
    socket.on('close', () => {
      sockets.delete(socket)
      readers.delete(socket)
      deflated -= counted
    })
    if (authenticated) admit(socket)
    else awaitToken(socket, access, authWithinMs, () => admit(socket))
  }

  return {
    name: 'live',
    dropped: () => skipped,
    maxReaders,
    readers: () => readers.size,
    connections: () => sockets.size,
    frames: () => frames,
    bufferedBytes: () => [...sockets].reduce((sum, socket) => sum + socket.bufferedAmount, 0),
    upgrade(request, socket, head, access) {
      const verdict = judge(request, access)
      if ('refusal' in verdict) return refuseUpgrade(socket, verdict.refusal)
      if (sockets.size >= maxReaders) {
        return refuseUpgrade(socket, {
          code: 'too_many_readers',
          message: `${maxReaders} readers are connected, and more are not allowed. Close one, or raise http.max_readers`,
        })
      }
      if (!verdict.authenticated && sockets.size - readers.size >= MAX_UNKNOWN) {
        return refuseUpgrade(socket, {
          code: 'too_many_readers',
          message: `${MAX_UNKNOWN} readers are connected that have not sent their token yet. Try again in a few seconds`,
        })
      }
      serverFor(request).handleUpgrade(request, socket, head, (ws) => connected(ws, access, verdict.authenticated))
    },
    revoke() {
      for (const socket of sockets) socket.close(CLOSE_REFUSED, 'http.token has changed: connect again with the new one')
    },
    incident(incident) {
      if (readers.size === 0) return
      const data = messageOf(incident)
      for (const reader of readers.values()) reader.certain(data)
    },
    tick(t) {
      present = t
      const due = [...readers.values()].filter((reader) => reader.due())
      if (due.length === 0) return
      const data = frameAt(t)
      frames += 1
      for (const reader of due) if (!reader.frame(data)) skipped += 1
    },
    async close() {
      clearInterval(pings)
      for (const socket of sockets) socket.close(1001, 'the agent stops')
      // A peer that does not answer the close would hold the agent for 30 s (ws); a moment is enough for one that lives.
      const deadline = performance.now() + 300
      while (sockets.size > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
      for (const socket of sockets) socket.terminate()
    },
  }
}
