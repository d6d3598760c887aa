// Reads one answer of HTTP/1.1 out of the bytes of a connection, whatever their pieces: by its length, in chunks, or until the connection ends.
import type { IncomingHttpHeaders } from 'node:http'
import type { HttpAnswer } from './http-client.ts'

/** `keeps`: the connection may be used for the next request. */
export type WholeAnswer = { readonly answer: HttpAnswer; readonly keeps: boolean }
export type AnswerReader = {
  /** The piece may be overwritten afterwards. undefined: more must come. Throws when this is no HTTP. */
  readonly push: (piece: Buffer) => WholeAnswer | undefined
  /** The connection ended; undefined: in the middle. */
  readonly end: () => WholeAnswer | undefined
  readonly status: () => number | undefined
}
type Head = { readonly status: number; readonly statusText: string; readonly headers: IncomingHttpHeaders; readonly keeps: boolean }
/** Takes pieces of a body; gives how many bytes are behind its end, or undefined while it goes on. */
type Body = {
  readonly push: (piece: Buffer) => number | undefined
  readonly take: () => Buffer
  readonly isCut: () => boolean
  readonly endsWithConnection?: true
}

const MAX_HEAD = 64 * 2 ** 10
/** Of a size with what may follow it, or a trailer. */
const MAX_LINE = 4_096
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, code, statusText = ''] = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/.exec(first) ?? []
  if (code === undefined) throw new Error('it does not speak HTTP/1.1')
  const headers: IncomingHttpHeaders = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const [name, value] = [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    const before = headers[name]
    headers[name] = typeof before === 'string' ? `${before}, ${value}` : value
  }
  const connection = (headers.connection ?? '').toLowerCase()
  return { status: Number(code), statusText, headers, keeps: minor === '1' ? !connection.includes('close') : connection.includes('keep-alive') }
}

function ofLength(length: number, maxBytes: number): Body {
  const body = Buffer.allocUnsafeSlow(Math.min(length, maxBytes))
  let got = 0
  return {
    push(piece) {
      piece.copy(body, Math.min(got, body.length))
      got += piece.length
      // The rest of a longer one is not waited for.
      return got >= length ? got - length : got > maxBytes ? 0 : undefined
    },
    take: () => body.subarray(0, got),
    isCut: () => length > maxBytes,
  }
}

/** `add`: whether it is too long by now. */
function collected(maxBytes: number): Pick<Body, 'take' | 'isCut'> & { readonly add: (piece: Buffer) => boolean } {
  const pieces: Buffer[] = []
  let bytes = 0
  return {
    add(piece) {
      if (bytes <= maxBytes) pieces.push(Buffer.from(piece))
      bytes += piece.length
      return bytes > maxBytes
    },
    take: () => Buffer.concat(pieces).subarray(0, maxBytes),
    isCut: () => bytes > maxBytes,
  }
}

function untilTheEnd(maxBytes: number): Body {
  const { add, ...rest } = collected(maxBytes)
  return { push: (piece) => (add(piece) ? 0 : undefined), ...rest, endsWithConnection: true }
}

function inChunks(maxBytes: number): Body {
  const { add, ...rest } = collected(maxBytes)
  let state: 'size' | 'data' | 'behind data' | 'trailer' = 'size'
  let [left, line] = [0, '']
  return {
    push(piece) {
      for (let at = 0; at < piece.length;) {
        if (state === 'data') {
          const end = Math.min(piece.length, at + left)
          if (add(piece.subarray(at, end))) return 0
          left -= end - at
          at = end
          if (left === 0) state = 'behind data'
          continue
        }
        const newline = piece.indexOf(0x0a, at)
        line += piece.toString('latin1', at, newline < 0 ? piece.length : newline)
        if (line.length > MAX_LINE) throw new Error('a chunk of its answer has no size')
        if (newline < 0) return undefined
        at = newline + 1
        const text = line.trim()
        line = ''
        if (state === 'trailer') {
          if (text === '') return piece.length - at
        } else if (state === 'behind data') {
          if (text !== '') throw new Error('a chunk of its answer is longer than its size')
          state = 'size'
        } else {
          const [size] = /^[0-9a-fA-F]{1,8}(?=\s*(?:;|$))/.exec(text) ?? []
          if (size === undefined) throw new Error('a chunk of its answer has no size')
          left = Number.parseInt(size, 16)
          state = left === 0 ? 'trailer' : 'data'
        }
      }
      return undefined
    },
    ...rest,
  }
}

function bodyOf({ status, headers }: Head, maxBytes: number): Body {
  if (status === 204 || status === 304) return ofLength(0, maxBytes)
  if (/\bchunked\s*$/i.test(headers['transfer-encoding'] ?? '')) return inChunks(maxBytes)
  const length = headers['content-length']
  if (length === undefined) return untilTheEnd(maxBytes)
  if (!/^\d{1,15}$/.test(length)) throw new Error('the length of its answer is no number')
  return ofLength(Number(length), maxBytes)
}

export function createAnswerReader(maxBytes: number): AnswerReader {
  let waiting = NOTHING
  let head: Head | undefined
  let body: Body | undefined
  const whole = (beyond: number): WholeAnswer | undefined => {
    if (head === undefined || body === undefined) return undefined
    const { status, statusText, headers, keeps } = head
    const cut = body.isCut()
    return { answer: { status, statusText, headers, body: body.take(), cut }, keeps: keeps && !cut && beyond === 0 && body.endsWithConnection !== true }
  }
  const push: AnswerReader['push'] = (piece) => {
    if (body === undefined) {
      const bytes = waiting.length === 0 ? piece : Buffer.concat([waiting, piece])
      const end = bytes.indexOf(END_OF_HEAD)
      if (end < 0) {
        if (bytes.length > MAX_HEAD) throw new Error('the head of its answer does not end')
        waiting = Buffer.from(bytes)
        return undefined
      }
      head = parseHead(bytes.toString('latin1', 0, end))
      waiting = NOTHING
      const rest = bytes.subarray(end + END_OF_HEAD.length)
      // "Continue" and the like are before the answer.
      if (head.status < 200) {
        head = undefined
        return rest.length === 0 ? undefined : push(rest)
      }
      body = bodyOf(head, maxBytes)
      piece = rest
    }
    const beyond = body.push(piece)
    return beyond === undefined ? undefined : whole(beyond)
  }
  return { push, end: () => (body?.endsWithConnection === true ? whole(0) : undefined), status: () => head?.status }
}
