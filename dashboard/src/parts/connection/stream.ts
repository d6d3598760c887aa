// One WebSocket to /ws from its opening to its end, and how long to wait before the next.
import type { LiveMessage } from '../../../../agent/model/live.ts'
import { tokenProtocol } from './api.ts'
import { parseLiveMessage } from './messages.ts'

const FIRST_MS = 500
const LONGEST_MS = 15_000

/** Doubles from half a second to 15 s; the random part (up to a quarter) keeps many tabs from returning in the same instant. */
export function retryDelayMs(attempt: number, random: () => number = Math.random): number {
  const base = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10))
  return Math.round(base * (0.75 + random() * 0.25))
}

export type StreamHandlers = {
  readonly message: (message: LiveMessage) => void
  /** Once, however the stream ended. */
  readonly end: () => void
}

function streamUrl(): URL {
  const url = new URL('ws', document.baseURI)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return url
}

export type Stream = {
  /** Asks for each `every`-th frame from now on. */
  readonly pace: (every: number) => void
  /** Without a further call of the handlers. */
  readonly close: () => void
}

export function openStream(token: string | undefined, handlers: StreamHandlers): Stream {
  const socket = new WebSocket(streamUrl(), token === undefined ? [] : ['warpwatch', tokenProtocol(token)])
  let over = false
  const end = (): void => {
    if (over) return
    over = true
    handlers.end()
  }
  socket.addEventListener('message', (event: MessageEvent<unknown>) => {
    if (over || typeof event.data !== 'string') return
    try {
      const message = parseLiveMessage(event.data)
      if (message !== undefined) handlers.message(message)
    } catch (error) {
      console.warn(error)
    }
  })
  socket.addEventListener('error', end)
  socket.addEventListener('close', end)
  return {
    pace: (every) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'pace', every }))
    },
    close: () => {
      over = true
      socket.close()
    },
  }
}
