// The engine client's stream of one container's log. HTTP/1.0 on a bare socket: engines then send the bytes as they are, up to the end of the connection.
// Over HTTP/1.1 each line is a chunk of its own, of which Node's parser makes an event: 500,000 lines cost 460 ms of CPU through node:http and 20 ms here
// (Node 24.21, measured).
import { connect } from 'node:net'
import type { Budget } from '../logs/budget.ts'
import { EngineError, refusal as refusalOf, toEngineError } from './engine-error.ts'

export type LogRequest = {
  readonly id: string
  readonly follow: boolean
  /** Unix seconds with decimals. */
  readonly since: string | undefined
  /** Only so many of the newest lines, which engines find from the end. */
  readonly tail?: number
  readonly signal: AbortSignal
  readonly budget: Budget
  /** The chunk is not kept after the call. A throw ends the stream and rejects. */
  readonly onChunk: (chunk: Buffer) => void
}
/** `missing`: no such container. */
export type LogEnd = 'end' | 'missing'

const MAX_HEAD = 16 * 1024
const END_OF_HEAD = Buffer.from('\r\n\r\n')
/** To the first byte of the answer; an engine with a long log seeks the beginning first. */
const ANSWER_MS = 30_000
// All streams read into the same memory: what was read is taken in before anything else is read.
const SHARED = Buffer.allocUnsafeSlow(64 * 1024)

/**
 * Engines write each line by itself, and a read costs as much as judging 20 lines: a busy stream is left alone for some milliseconds, so that
 * one read brings many. Longer while reads bring little, shorter while they bring much; a quiet stream is read at once.
 */
export function nextPause(pauseMs: number, length: number, sinceLastMs: number): number {
  if (sinceLastMs > pauseMs + QUIET_MS) return 0
  if (length >= MUCH_BYTES) return Math.floor(pauseMs / 2)
  return length < LITTLE_BYTES ? Math.min(MAX_PAUSE_MS, pauseMs * 2 + 1) : pauseMs
}
const QUIET_MS = 10
const MAX_PAUSE_MS = 40
const LITTLE_BYTES = 8 * 1024
const MUCH_BYTES = 16 * 1024

/** Rejects with an EngineError. */
export async function readEngineLog(socketPath: string, request: LogRequest): Promise<LogEnd> {
  const { id, follow, since, tail, signal, budget, onChunk } = request
  const doing = `GET /containers/${id.slice(0, 12)}/logs on ${socketPath}`
  const { promise, resolve, reject } = Promise.withResolvers<LogEnd>()
  let head: Buffer | undefined = Buffer.alloc(0)
  let status = 0
  let refusal = ''
  let pauseMs = 0
  let lastRead = 0

  const takeHead = (bytes: Buffer): Buffer | undefined => {
    const whole = Buffer.concat([head ?? Buffer.alloc(0), bytes])
    const end = whole.indexOf(END_OF_HEAD)
    if (end < 0) {
      if (whole.length > MAX_HEAD) throw new EngineError('parse_error', `${doing}: the head of the answer is longer than ${MAX_HEAD} bytes`)
      head = whole
      return undefined
    }
    clearTimeout(timer)
    const text = whole.toString('latin1', 0, end)
    status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
    if (status === 0) throw new EngineError('parse_error', `${doing}: the answer is not HTTP: ${JSON.stringify(text.slice(0, 80))}`)
    if (/^transfer-encoding:\s*chunked/im.test(text))
      throw new EngineError('not_supported', `${doing}: a proxy answers an HTTP/1.0 request in chunks; give the engine's own socket`)
    head = undefined
    return whole.subarray(end + END_OF_HEAD.length)
  }
  const take = (bytes: Buffer): void => {
    const body = head === undefined ? bytes : takeHead(bytes)
    if (body === undefined || body.length === 0) return
    if (status === 200) onChunk(body)
    else if (refusal.length < 1_000) refusal += body.toString('utf8')
  }
  const onread = (length: number): boolean => {
    let failure: unknown
    budget.spend(() => {
      try {
        take(SHARED.subarray(0, length))
      } catch (error) {
        failure = error
      }
    })
    if (failure !== undefined) {
      reject(toEngineError(failure, doing))
      socket.destroy()
      return true
    }
    if (budget.exhausted()) {
      budget.free(() => socket.resume())
      return false
    }
    const now = performance.now()
    pauseMs = nextPause(pauseMs, length, now - lastRead)
    lastRead = now
    if (pauseMs === 0) return true
    setTimeout(() => socket.resume(), pauseMs)
    return false
  }
  const socket = connect({ path: socketPath, onread: { buffer: SHARED, callback: onread } })
  const timer = setTimeout(() => {
    reject(new EngineError('timeout', `${doing}: no answer within ${ANSWER_MS} ms`))
    socket.destroy()
  }, ANSWER_MS)
  const onAbort = (): void => {
    reject(new EngineError('timeout', `${doing}: given up`))
    socket.destroy()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  socket.on('error', (error) => reject(toEngineError(error, doing)))
  socket.on('end', () => socket.end())
  socket.on('close', () => {
    if (head !== undefined) return reject(new EngineError('driver_error', `${doing}: the engine closed the connection before it answered`))
    if (status === 200) return resolve('end')
    if (status === 404) return resolve('missing')
    reject(refusalOf(doing, status, refusal, [501]))
  })
  const from = `${since === undefined ? '' : `&since=${since}`}${tail === undefined ? '' : `&tail=${tail}`}`
  socket.write(`GET /containers/${id}/logs?stdout=1&stderr=1&timestamps=1${follow ? '&follow=1' : ''}${from} HTTP/1.0\r\nHost: docker\r\n\r\n`)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
