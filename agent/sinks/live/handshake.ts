// How a reader of the live stream is let in: Host, Origin, token as subprotocol or as first message.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { readSubprotocol, type Access } from '../../http/auth.ts'
import { errorBody, NO_SNIFF, STATUS, type Refusal } from '../../http/errors.ts'

export const AUTH_WITHIN_MS = 5_000
/** Close code of a refused token: policy violation (RFC 6455 section 7.4.1). */
export const CLOSE_REFUSED = 1008

/** Answers an upgrade request with a plain HTTP error. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const body = errorBody(refusal)
  const status = STATUS[refusal.code]
  const headers = Object.entries({ ...NO_SNIFF, ...refusal.headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status} ${refusal.code}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers.join('')}\r\n${body}`,
  )
}

export type Verdict = { readonly refusal: Refusal } | { readonly authenticated: boolean }

/** Judges the request itself; not `authenticated` means that the token must come as first message. */
export function judge(request: IncomingMessage, access: Access): Verdict {
  const { headers } = request
  const refusal = access.checkHost(headers) ?? access.checkOrigin(headers)
  if (refusal !== undefined) return { refusal }
  if (!access.needsToken) return { authenticated: true }
  const { token } = readSubprotocol(headers['sec-websocket-protocol'])
  if (token !== undefined) {
    if (access.tokenIs(token)) return { authenticated: true }
    return {
      refusal: { code: 'unauthorized', message: 'Sec-WebSocket-Protocol: the token is wrong. Send warpwatch.token.TOKEN with the token in http.token' },
    }
  }
  if (headers.authorization === undefined) return { authenticated: false }
  const bearer = access.checkBearer(headers)
  return bearer === undefined ? { authenticated: true } : { refusal: bearer }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString()
}

/** The token of a first message; undefined for whatever is none. */
export function tokenIn(data: RawData): string | undefined {
  try {
    const message: unknown = JSON.parse(textOf(data))
    if (typeof message !== 'object' || message === null || !('type' in message) || !('token' in message)) return undefined
    return message.type === 'auth' && typeof message.token === 'string' ? message.token : undefined
  } catch {
    return undefined // not JSON
  }
}

/** Waits for `{"type":"auth","token"}`; closes the socket when it does not come in time or is wrong. */
export function awaitToken(socket: WebSocket, access: Access, withinMs: number, admitted: () => void): void {
  const late = setTimeout(() => socket.close(CLOSE_REFUSED, 'the first message must be {"type":"auth","token":...}, and none came in time'), withinMs)
  socket.once('close', () => clearTimeout(late))
  socket.once('message', (data) => {
    clearTimeout(late)
    const token = tokenIn(data)
    if (token !== undefined && access.tokenIs(token)) admitted()
    else socket.close(CLOSE_REFUSED, 'expected {"type":"auth","token":...} with the token in http.token')
  })
}
