// The live stream of an agent, opened again where it breaks off.
import { WebSocket, type RawData } from 'ws'
import { messageOf } from '../../../text/error.ts'
import type { Feed, FeedEvents } from './feed.ts'
import { parseLive } from './messages.ts'

export type StreamTarget = {
  /** `http://127.0.0.1:9839`, or `ws+unix:///run/tunnel.sock:`. */
  readonly url: string
  readonly token: string
  readonly isLocal: boolean
}

/** A frame of 16 GPUs and 1,000 processes has 0.7 MB. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
const AGAIN_MS = [500, 1_000, 2_000, 4_000]
const OPEN_WITHIN_MS = 4_000
/** A frame comes each second. */
const SILENT_MS = 5_000

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString()
}

export function openStream({ url, token, isLocal }: StreamTarget, { message, lost }: FeedEvents): Feed {
  let closed = false
  let failures = 0
  let socket: WebSocket | undefined
  let timer: NodeJS.Timeout | undefined

  const connect = (): void => {
    if (closed) return
    const ws = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: OPEN_WITHIN_MS,
      perMessageDeflate: false,
    })
    socket = ws
    let why: string | undefined
    const silent = setTimeout(() => {
      why = 'no answer for 5 s'
      ws.terminate()
    }, SILENT_MS)
    ws.on('message', (data) => {
      silent.refresh()
      const found = parseLive(textOf(data))
      if (found === undefined) return
      failures = 0
      message(found)
    })
    ws.on('unexpected-response', (_request, { statusCode }) => {
      why = statusCode === 401 ? 'the token is wrong or missing (http.token)' : `answered with status ${statusCode ?? '?'}`
      ws.terminate()
    })
    ws.on('error', (error: NodeJS.ErrnoException) => (why ??= error.code === 'ECONNREFUSED' ? 'no agent runs there' : messageOf(error)))
    ws.on('close', (_code, reason) => {
      clearTimeout(silent)
      if (closed) return
      lost(why ?? (reason.toString() || 'the agent has closed the stream'))
      timer = setTimeout(connect, AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)])
      failures += 1
    })
  }
  connect()
  return {
    isLocal,
    async close() {
      closed = true
      clearTimeout(timer)
      socket?.terminate()
    },
  }
}
