// Bytes to lines: however the stream is torn, with offsets that lead back to the text, and bounded.
import * as fc from '../../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { BATCH_LINES } from '../../../agent/sources/logs/batch.ts'
import { createLineBuffer } from '../../../agent/sources/logs/line-buffer.ts'

type Line = { readonly text: string; readonly offset: number }
function read(chunks: readonly Buffer[], maxBytes: number) {
  const lines: Line[] = []
  let cuts = 0
  let mostHeld = 0
  const buffer = createLineBuffer({
    maxBytes,
    onCut: () => void cuts++,
    onBatch(batch, offset) {
      for (let at = 0; at < batch.count; at++) {
        const [start = 0, end = 0] = [batch.starts[at], batch.ends[at]]
        expect(start).toBeGreaterThanOrEqual(batch.from)
        expect(end).toBeLessThanOrEqual(batch.to)
        lines.push({ text: batch.bytes.toString('latin1', start, end), offset: offset + start })
      }
    },
  })
  // Copies in one reused memory, as files and sockets have it: nothing may be kept by reference.
  const memory = Buffer.alloc(1 << 20)
  let offset = 0
  for (const chunk of chunks) {
    chunk.copy(memory)
    buffer.push(memory.subarray(0, chunk.length), offset)
    memory.fill(0xaa, 0, chunk.length)
    offset += chunk.length
    mostHeld = Math.max(mostHeld, buffer.held())
  }
  buffer.finish()
  expect(buffer.held()).toBe(0)
  return { lines, cuts, mostHeld }
}

/** What comes out by definition: each line in pieces of `maxBytes`, the end of the text only when something is behind the last line end. */
function expected(text: string, maxBytes: number): { readonly lines: readonly Line[]; readonly cuts: number } {
  const lines: Line[] = []
  let [offset, cuts] = [0, 0]
  const whole = text.split('\n')
  if (whole.at(-1) === '') whole.pop()
  for (const line of whole) {
    let at = 0
    for (; line.length - at > maxBytes; at += maxBytes, cuts++) lines.push({ text: line.slice(at, at + maxBytes), offset: offset + at })
    lines.push({ text: line.slice(at), offset: offset + at })
    offset += line.length + 1
  }
  return { lines, cuts }
}

test('any tearing gives the same lines, pieces and offsets', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 60 }),
      fc.array(fc.nat(60), { maxLength: 12 }),
      fc.integer({ min: 1, max: 9 }),
      (text, tears, maxBytes) => {
        const places = [...new Set(tears.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
        const chunks = [0, ...places].map((from, i) => Buffer.from(text.slice(from, places[i] ?? text.length), 'latin1'))
        const { lines, cuts, mostHeld } = read(chunks, maxBytes)
        expect({ lines, cuts }).toEqual(expected(text, maxBytes))
        expect(mostHeld).toBeLessThanOrEqual(maxBytes)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('more lines in one chunk than a batch holds all come', () => {
  const text = 'x\n'.repeat(2 * BATCH_LINES + 5)
  expect(read([Buffer.from(text)], 64)).toMatchObject(expected(text, 64))
})

test('a carriage return before the line end is not part of the text', () => {
  expect(read([Buffer.from('one\r\ntw'), Buffer.from('o\r\n')], 64).lines.map(({ text }) => text)).toEqual(['one', 'two'])
})
