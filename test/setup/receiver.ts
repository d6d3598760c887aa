// A real receiver of notifications on loopback: answers as a test scripts it, well or badly, and keeps what came.
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { tlsServer, webServer, type Listening } from './web-server.ts'

export type Received = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly key: string
}
/** What one request gets; `hang` is no answer at all, `reset` a connection that ends. */
export type Answer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang'
  | 'reset'
  /** 200, then a body that breaks off. */
  | 'cut'
  /** 200, then a body that never ends. */
  | 'drip'
export type Script = (received: Received, nth: number) => Answer | Promise<Answer>

export type Receiver = Listening & {
  /** Every request, also those that got no good answer. */
  readonly requests: readonly Received[]
  /** Those that were taken, in order; a key that was taken before is answered, not taken again, where keys are honoured. */
  readonly taken: readonly Received[]
  /** How the next requests are answered. */
  readonly answerWith: (script: Script) => void
  /** Resolves when this holds, which is asked after each request. */
  readonly until: (holds: () => boolean) => Promise<void>
}

export const OK: Answer = { status: 200 }

function reply(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return
  if (answer === 'reset') response.destroy()
  else if (answer === 'cut') {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  } else if (answer === 'drip') {
    response.writeHead(200)
    response.write('a')
  } else {
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body ?? '')
  }
}

export type ReceiverOptions = {
  readonly honoursKeys?: boolean
  /** HTTPS with this. */
  readonly certificate?: { readonly key: string; readonly cert: string }
}

export async function startReceiver({ honoursKeys = false, certificate }: ReceiverOptions = {}): Promise<Receiver> {
  const requests: Received[] = []
  const taken: Received[] = []
  const keys = new Set<string>()
  const changes = new EventEmitter().setMaxListeners(0)
  let script: Script = () => OK
  const take = async (received: Received, response: ServerResponse): Promise<void> => {
    requests.push(received)
    const answer = await script(received, requests.length)
    if (typeof answer === 'object' && answer.status >= 200 && answer.status <= 299 && !(honoursKeys && keys.has(received.key))) {
      taken.push(received)
      keys.add(received.key)
    }
    reply(response, answer)
    changes.emit('request')
  }
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('error', () => {})
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      void take({ method, path, headers, body, key: String(headers['idempotency-key'] ?? '') }, response)
    })
  }
  const server = certificate === undefined ? await webServer(listener) : await tlsServer(certificate, listener)
  return {
    ...server,
    requests,
    taken,
    answerWith: (next) => (script = next),
    async until(holds) {
      while (!holds()) await once(changes, 'request')
    },
  }
}
