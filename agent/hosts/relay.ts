// The stream of another host's agent for a reader of this one: the token stays here, and what either side sends is bounded.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { readSubprotocol, type Access } from '../http/auth.ts'
import { AUTH_WITHIN_MS, awaitToken, judge, refuseUpgrade } from '../sinks/live/handshake.ts'
import { messageOf } from '../text/error.ts'
import { paceIn } from '../sinks/live/reader.ts'
import type { HostLink } from './link.ts'

export type Relay = {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, access: Access, link: HostLink | undefined) => void
  readonly close: () => void
}

/** A frame of 16 GPUs and 1,000 processes has 0.7 MB. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
const MAX_FROM_READER = 4 * 1024
/** What may wait for a reader that takes nothing; frames are left out beyond it. */
const MAX_WAITING = 1024 * 1024
const MAX_RELAYED = 100
const OPEN_WITHIN_MS = 4_000
/** "Try again later" (IANA's registry of close codes). */
const CLOSE_UNREACHABLE = 1013

export function createRelay(): Relay {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FROM_READER,
    handleProtocols: (_offered, request) => readSubprotocol(request.headers['sec-websocket-protocol']).chosen ?? false,
  })
  const readers = new Set<WebSocket>()

  const connect = async (reader: WebSocket, link: HostLink): Promise<void> => {
    // Nothing else of what a reader says goes on to another host.
    let every: number | undefined
    let passPace = (): void => {}
    reader.on('message', (data) => {
      every = paceIn(data) ?? every
      passPace()
    })
    const { url, token } = await link.target()
    if (reader.readyState !== WebSocket.OPEN) return
    const remote = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: OPEN_WITHIN_MS,
      perMessageDeflate: false,
    })
    reader.once('close', () => remote.terminate())
    passPace = () => {
      if (every !== undefined && remote.readyState === WebSocket.OPEN) remote.send(JSON.stringify({ type: 'pace', every }))
    }
    remote.on('open', passPace)
    remote.on('message', (data, isBinary) => {
      if (!isBinary && reader.bufferedAmount < MAX_WAITING) reader.send(data, { binary: false })
    })
    remote.on('error', () => {}) // 'close' follows
    remote.once('close', () => reader.close(CLOSE_UNREACHABLE, 'the host does not answer'))
  }
  const admit = (reader: WebSocket, link: HostLink): void => {
    connect(reader, link).catch((error: unknown) => reader.close(CLOSE_UNREACHABLE, messageOf(error).slice(0, 100)))
  }
  return {
    upgrade(request, socket, head, access, link) {
      const verdict = judge(request, access)
      if ('refusal' in verdict) return refuseUpgrade(socket, verdict.refusal)
      if (link === undefined) return refuseUpgrade(socket, { code: 'not_found', message: 'no such host is configured (hosts)' })
      if (readers.size >= MAX_RELAYED)
        return refuseUpgrade(socket, {
          code: 'too_many_readers',
          message: `${MAX_RELAYED} streams of other hosts are open, and more are not allowed. Close one`,
        })
      server.handleUpgrade(request, socket, head, (reader) => {
        readers.add(reader)
        reader.on('error', () => reader.terminate())
        reader.once('close', () => readers.delete(reader))
        if (verdict.authenticated) admit(reader, link)
        else awaitToken(reader, access, AUTH_WITHIN_MS, () => admit(reader, link))
      })
    },
    close() {
      for (const reader of readers) reader.terminate()
    },
  }
}
