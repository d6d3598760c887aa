// GETs over one connection that is kept: for those who ask the same server every few seconds. It takes a third of the CPU time of Node's client, which makes
// streams, an agent's entry and an abort controller for each request, and gives up connections that the server would have kept.
import type { Socket } from 'node:net'
import { lineOf } from '../text/error.ts'
import { startDeadline } from './deadline.ts'
import { createAnswerReader, type WholeAnswer } from './http-answer.ts'
import type { HttpFailure, HttpRequest, HttpResult } from './http-client.ts'
import { VERSION } from './version.ts'

/** Gets what the connection brings; a piece may be overwritten as soon as it returns. */
export type TakePiece = (piece: Buffer) => void
export type KeptClientOptions = {
  /** Makes a connection that stands; what comes on it goes to `take` alone. */
  readonly connect: (take: TakePiece) => Promise<Socket>
}
export type KeptClient = {
  /** Never throws. Redirects are answers. */
  readonly exchange: (request: Omit<HttpRequest, 'method' | 'body' | 'redirects' | 'signal'>) => Promise<HttpResult>
  /** Ends what is on its way. */
  readonly close: () => void
}
type Line = { readonly socket: Socket; take: TakePiece; ended: (error: Error) => void }

const CLOSED = 'given up'
const ENDED = 'the connection ended in the middle of the answer'
const NOTHING = (): void => {}

function requestText({ url, headers = {} }: Pick<HttpRequest, 'url' | 'headers'>): string {
  const all = { host: url.host, 'user-agent': `warpwatch/${VERSION}`, connection: 'keep-alive', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  if (lines.some((line) => /[^\t\x20-\x7e\x80-\xff]/.test(line.slice(0, -2)))) throw new Error('a header holds characters that no header may hold')
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`
}

export function createKeptClient({ connect }: KeptClientOptions): KeptClient {
  let idle: Line | undefined
  let isClosed = false
  const inFlight = new Set<(error: Error) => void>()
  /** Of each address its text, while the same headers go with it. */
  const texts = new WeakMap<URL, { readonly headers: HttpRequest['headers']; readonly text: string }>()
  const textOf = (request: Pick<HttpRequest, 'url' | 'headers'>): string => {
    const known = texts.get(request.url)
    if (known !== undefined && known.headers === request.headers) return known.text
    const text = requestText(request)
    texts.set(request.url, { headers: request.headers, text })
    return text
  }
  const open = async (): Promise<Line> => {
    let line: Line | undefined
    const socket = await connect((piece) => line?.take(piece))
    const made: Line = { socket, take: NOTHING, ended: NOTHING }
    line = made
    socket.on('error', (error) => made.ended(error))
    socket.on('close', () => made.ended(new Error(ENDED)))
    return made
  }
  const rest = (line: Line): void => {
    if (idle !== undefined || isClosed || line.socket.destroyed) {
      line.socket.destroy()
      return
    }
    // Whatever comes now was not asked for.
    line.take = () => line.socket.destroy()
    line.ended = () => {
      if (idle === line) idle = undefined
    }
    line.socket.unref()
    idle = line
  }

  return {
    async exchange({ timeoutMs, maxBytes, ...request }) {
      const { promise, resolve } = Promise.withResolvers<HttpResult>()
      let current: Line | undefined
      let reader = createAnswerReader(maxBytes)
      let isOver = false
      const end = (result: HttpResult): void => {
        isOver = true
        deadline.clear()
        inFlight.delete(fail)
        resolve(result)
      }
      const fail = (error: Error): void => {
        if (isOver) return
        if (current !== undefined) [current.take, current.ended] = [NOTHING, NOTHING]
        current?.socket.destroy()
        const status = reader.status()
        const known: Pick<HttpFailure, 'status' | 'connected'> = { connected: current !== undefined, ...(status === undefined ? {} : { status }) }
        const got = status === undefined ? '' : `status ${status}, then `
        if (isClosed) end({ failure: { kind: 'aborted', text: CLOSED, ...known } })
        else if (deadline.late())
          end({ failure: { kind: 'timeout', text: `${got === '' ? 'no answer' : `${got}no whole answer`} within ${timeoutMs} ms`, ...known } })
        else end({ failure: { kind: 'error', text: `${got}${lineOf(error)}`, error, ...known } })
      }
      const deadline = startDeadline(timeoutMs, () => fail(new Error(CLOSED)))
      inFlight.add(fail)

      const come = (line: Line, whole: WholeAnswer): void => {
        if (isOver) return
        if (whole.keeps) rest(line)
        else line.socket.destroy()
        end({ answer: whole.answer })
      }
      const ask = (line: Line, text: string, isKept: boolean): void => {
        current = line
        let isAnswered = false
        line.take = (piece) => {
          isAnswered = true
          try {
            const whole = reader.push(piece)
            if (whole !== undefined) come(line, whole)
          } catch (error) {
            fail(error instanceof Error ? error : new Error(String(error)))
          }
        }
        line.ended = (error) => {
          const whole = reader.end()
          if (whole !== undefined) come(line, whole)
          // The server closed a connection that was kept, perhaps just as the request left.
          else if (isKept && !isAnswered && !isOver) askAgain(text)
          else fail(error)
        }
        line.socket.ref()
        line.socket.write(text, 'latin1')
      }
      const askAgain = (text: string): void => {
        current = undefined
        reader = createAnswerReader(maxBytes)
        open().then((line) => (isOver ? void line.socket.destroy() : ask(line, text, false)), fail)
      }
      try {
        if (isClosed) throw new Error(CLOSED)
        const text = textOf(request)
        const kept = idle
        idle = undefined
        if (kept === undefined) askAgain(text)
        else ask(kept, text, true)
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)))
      }
      return promise
    },
    close() {
      isClosed = true
      idle?.socket.destroy()
      for (const fail of inFlight) fail(new Error(CLOSED))
    },
  }
}
