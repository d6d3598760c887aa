// One WebSocket to /ws from its opening to its end.
import type { LiveMessage } from '../../../../agent/model/live.ts'
import { parseLiveMessage } from './messages.ts'
import { tokenProtocol } from './token.ts'

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

/** Opens the stream; the returned function closes it without a further call of the handlers. */
export function openStream(token: string | undefined, handlers: StreamHandlers): () => void {
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
  return () => {
    over = true
    socket.close()
  }
}
