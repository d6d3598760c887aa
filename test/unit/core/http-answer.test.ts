// One answer out of the bytes of a connection: by its length, in chunks, until the end, in whatever pieces they come.
import { expect, test } from 'vitest'
import { createAnswerReader, type WholeAnswer } from '../../../agent/lib/http-answer.ts'

const MAX = 1_000
/** In pieces of this many bytes; each is overwritten once it was taken, as a shared buffer is. */
function read(text: string, size: number, maxBytes = MAX): WholeAnswer | undefined {
  const [reader, bytes] = [createAnswerReader(maxBytes), Buffer.from(text, 'latin1')]
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size))
    const whole = reader.push(piece)
    piece.fill('x')
    if (whole !== undefined) return whole
  }
  return reader.end()
}
const said = (whole: WholeAnswer | undefined) =>
  whole === undefined
    ? undefined
    : { status: whole.answer.status, body: whole.answer.body.toString(), keeps: whole.keeps, ...(whole.answer.cut ? { cut: true } : {}) }
const HEAD = 'HTTP/1.1 200 OK\r\nServer: a\r\n'

const READ: readonly (readonly [string, string, ReturnType<typeof said>])[] = [
  ['by its length', `${HEAD}Content-Length: 5\r\n\r\nhello`, { status: 200, body: 'hello', keeps: true }],
  ['without a body', 'HTTP/1.1 404\r\ncontent-length: 0\r\n\r\n', { status: 404, body: '', keeps: true }],
  ['204 has none, whatever it says', 'HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n', { status: 204, body: '', keeps: true }],
  [
    'in chunks with what may follow a size, and a trailer',
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n4;x=y\r\nhell\r\n1\r\no\r\n0\r\nDigest: z\r\n\r\n`,
    { status: 200, body: 'hello', keeps: true },
  ],
  ['until the connection ends', `${HEAD}\r\nhello`, { status: 200, body: 'hello', keeps: false }],
  ['behind a word in between', `HTTP/1.1 100 Continue\r\n\r\n${HEAD}Content-Length: 2\r\n\r\nok`, { status: 200, body: 'ok', keeps: true }],
  ['that closes', `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\nok`, { status: 200, body: 'ok', keeps: false }],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', { status: 200, body: 'ok', keeps: false }],
  ['of HTTP/1.0 that is kept', 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok', { status: 200, body: 'ok', keeps: true }],
  ['that breaks off', `${HEAD}Content-Length: 9\r\n\r\nhello`, undefined],
  ['that breaks off between chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, undefined],
]
test.each(READ)('an answer %s', (_, text, expected) => {
  for (const size of [1, 2, 3, 7, 64, 10_000]) expect(said(read(text, size)), `pieces of ${size}`).toEqual(expected)
})

test('what is longer than is wanted is cut, and its connection is not used again', () => {
  const long = 'a'.repeat(50)
  for (const text of [`${HEAD}Content-Length: 50\r\n\r\n${long}`, `${HEAD}Transfer-Encoding: chunked\r\n\r\n32\r\n${long}\r\n0\r\n\r\n`, `${HEAD}\r\n${long}`])
    for (const size of [1, 9, 10_000]) {
      expect(said(read(text, size, 20))).toMatchObject({ body: 'a'.repeat(20), cut: true, keeps: false })
      expect(said(read(text, size, 50))?.cut, 'exactly as long').toBeUndefined()
    }
})
test('two answers at once: the second was not asked for', () => {
  expect(said(read(`${HEAD}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n`, 10_000))).toMatchObject({ body: 'ok', keeps: false })
})
test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'does not speak'],
  ['a length that is no number', `${HEAD}Content-Length: many\r\n\r\n`, 'is no number'],
  ['a chunk without a size', `${HEAD}Transfer-Encoding: chunked\r\n\r\nhello\r\n`, 'has no size'],
  ['a chunk longer than its size', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n`, 'is longer'],
  ['a head without an end', `${HEAD}${'x: y\r\n'.repeat(20_000)}`, 'does not end'],
  ['a size without an end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(5_000)}`, 'has no size'],
])('%s is an error', (_, text, why) => expect(() => read(text, 1_000)).toThrow(why))
test('header names in lower case, and one that comes twice as one', () => {
  expect(read('HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n', 10)?.answer.headers).toEqual({
    server: 'llama.cpp',
    'x-a': '1, 2',
    'content-length': '0',
  })
})
