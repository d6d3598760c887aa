// One reader of the live stream: sends what fits and at the pace it asks for, skips frames while it is behind, finds out when it is gone.
import type { RawData, WebSocket } from 'ws'
import * as z from 'zod/mini'

export type Reader = {
  /** Whether this tick's frame is one that it asked for; counts the tick. */
  readonly due: () => boolean
  /** Sends a frame, or skips it when the reader has not taken the earlier ones; false = skipped. One that is leaving misses nothing. */
  readonly frame: (data: Buffer) => boolean
  /** Sends what must not be skipped; a reader for which too much waits is ended, so that it reconnects and gets the state of then. */
  readonly certain: (data: Buffer) => void
  /** Pings; false when the ping before was not answered, so that the reader is gone. */
  readonly ping: () => boolean
  readonly close: (code: number, reason: string) => void
  readonly terminate: () => void
  readonly socket: WebSocket
}

/** Unsent bytes of one reader above which it skips frames; beside the kernel's own buffer this bounds what a reader that stops reading costs. */
export const MAX_BUFFERED_BYTES = 256 * 1024

/** So much may wait for a reader that takes nothing: some hundred incidents. */
export const MAX_CERTAIN_BYTES = 4 * 1024 * 1024

const pace = z.object({ type: z.literal('pace'), every: z.int().check(z.minimum(1), z.maximum(60)) })

/** `{"type":"pace","every":5}`: a reader that nobody looks at wants each fifth frame. undefined: it is no such message. */
export function paceIn(data: RawData): number | undefined {
  if (!Buffer.isBuffer(data)) return undefined
  try {
    return pace.safeParse(JSON.parse(data.toString())).data?.every
  } catch {
    return undefined // not JSON
  }
}

export function createReader(socket: WebSocket, maxBufferedBytes = MAX_BUFFERED_BYTES): Reader {
  let answered = true
  let every = 1
  let sinceFrame = 0
  socket.on('pong', () => (answered = true))
  socket.on('message', (data) => (every = paceIn(data) ?? every))
  return {
    socket,
    due() {
      sinceFrame += 1
      if (sinceFrame < every) return false
      sinceFrame = 0
      return true
    },
    frame(data) {
      if (socket.readyState !== socket.OPEN) return true
      // One frame may always wait, whatever its size; a second one only while the sum stays small.
      const buffered = socket.bufferedAmount
      if (buffered > 0 && buffered + data.length > maxBufferedBytes) return false
      socket.send(data, { binary: false })
      return true
    },
    certain(data) {
      if (socket.readyState !== socket.OPEN) return
      if (socket.bufferedAmount + data.length > MAX_CERTAIN_BYTES) socket.terminate()
      else socket.send(data, { binary: false })
    },
    ping() {
      if (!answered) return false
      answered = false
      if (socket.readyState === socket.OPEN) socket.ping()
      return true
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
  }
}
