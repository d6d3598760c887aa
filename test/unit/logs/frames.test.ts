// Engines' log streams taken apart: frames and terminals, torn at any byte, split messages, overlong and malformed ones.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createFrameReader, FrameError } from '../../../agent/sources/container-logs/frames.ts'

const STAMP = '2026-11-20T10:17:00.123456789Z '
const frame = (part: number, text: string): Buffer => {
  const body = Buffer.from(text, 'utf8')
  const head = Buffer.alloc(8)
  head[0] = part
  head.writeUInt32BE(body.length, 4)
  return Buffer.concat([head, body])
}
type Read = { readonly part: number; readonly stamp: string; readonly text: string }
function read(chunks: readonly Buffer[]): { readonly lines: readonly Read[]; readonly cuts: number } {
  const lines: Read[] = []
  let cuts = 0
  const reader = createFrameReader({
    onBatch(batch) {
      for (let at = 0; at < batch.count; at++) {
        const [head = 0, start = 0, end = 0] = [batch.heads[at], batch.starts[at], batch.ends[at]]
        lines.push({ part: batch.parts[at] ?? -1, stamp: batch.bytes.toString('utf8', head, start), text: batch.bytes.toString('utf8', start, end) })
      }
    },
    onCut: () => void cuts++,
  })
  // Copies in one reused memory, as the socket has it: nothing may be kept by reference.
  const memory = Buffer.alloc(1 << 20)
  for (const chunk of chunks) {
    chunk.copy(memory)
    reader.push(memory.subarray(0, chunk.length))
    memory.fill(0xaa, 0, chunk.length)
  }
  reader.end()
  return { lines, cuts }
}
function tear(whole: Buffer, at: readonly number[]): readonly Buffer[] {
  const places = [...new Set(at.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length))
}

describe('frames', () => {
  test('stdout and stderr with their times', () => {
    expect(read([Buffer.concat([frame(1, `${STAMP}one\n`), frame(2, `${STAMP}two\r\n`), frame(1, `${STAMP}\n`)])]).lines).toEqual([
      { part: 1, stamp: STAMP, text: 'one' },
      { part: 2, stamp: STAMP, text: 'two' },
      { part: 1, stamp: STAMP, text: '' },
    ])
  })

  test('a line that Docker split in messages of 16 KiB is one line again, other streams between its parts notwithstanding', () => {
    const [a, b] = ['a'.repeat(16_384), 'b'.repeat(16_384)]
    const { lines, cuts } = read([Buffer.concat([frame(2, STAMP + a), frame(1, `${STAMP}between\n`), frame(2, STAMP + b), frame(2, `${STAMP}end\n`)])])
    expect(lines).toEqual([
      { part: 1, stamp: STAMP, text: 'between' },
      { part: 2, stamp: STAMP, text: `${a}${b}end` },
    ])
    expect(cuts).toBe(0)
  })

  test('what was begun counts as a line at the end of the log', () => {
    expect(read([frame(2, `${STAMP}died here`)]).lines).toEqual([{ part: 2, stamp: STAMP, text: 'died here' }])
  })

  test('a log that never ends its line comes in pieces of bounded size, and each cut is counted', () => {
    const { lines, cuts } = read(Array.from({ length: 40 }, () => frame(1, STAMP + 'x'.repeat(16_384))))
    expect(lines.map(({ text }) => text.length).reduce((sum, length) => sum + length, 0)).toBe(40 * 16_384)
    expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(64 * 1024 + 16_384)
    expect(cuts).toBeGreaterThanOrEqual(9)
  })

  test('of a message of 10 MB the beginning is read, and the next message whole', () => {
    const whole = Buffer.concat([frame(1, `${STAMP}${'y'.repeat(10_000_000)}\n`), frame(2, `${STAMP}after\n`)])
    const chunks = Array.from({ length: Math.ceil(whole.length / 65_536) }, (_, index) => whole.subarray(index * 65_536, (index + 1) * 65_536))
    const { lines, cuts } = read(chunks)
    expect(lines.at(-1)).toEqual({ part: 2, stamp: STAMP, text: 'after' })
    expect(cuts).toBeGreaterThan(0)
    expect(lines.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(200_000)
  })

  test('bytes that are no frame end the stream with a word about them', () => {
    expect(() => read([Buffer.concat([frame(1, `${STAMP}one\n`), Buffer.from([7, 9, 9, 9, 0, 0, 0, 1, 0])])])).toThrow(FrameError)
  })

  test('any tearing gives the same lines', () => {
    const line = fc.record({
      part: fc.constantFrom(1, 2),
      text: fc.string({ maxLength: 60, unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ' ')),
      whole: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), fc.array(fc.nat(20_000), { maxLength: 30 }), (lines, places) => {
        const stream = Buffer.concat(lines.map(({ part, text, whole }) => frame(part, STAMP + text + (whole ? '\n' : ''))))
        expect(read(tear(stream, places))).toEqual(read([stream]))
      }),
      { numRuns: 300 },
    )
  })
})

describe('a terminal', () => {
  test('plain lines with their times', () => {
    expect(read([Buffer.from(`${STAMP}one\r\n${STAMP}two`)]).lines).toEqual([
      { part: 0, stamp: STAMP, text: 'one' },
      { part: 0, stamp: STAMP, text: 'two' },
    ])
  })

  test('any tearing gives the same lines', () => {
    const text = fc.string({ maxLength: 60, unit: 'grapheme' }).map((line) => line.replaceAll(/[\r\n]/g, ' '))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 30 }), fc.array(fc.nat(20_000), { maxLength: 30 }), (lines, places) => {
        const stream = Buffer.from(lines.map((line) => `${STAMP}${line}\n`).join(''))
        expect(read(tear(stream, places)).lines.map((line) => line.text)).toEqual(lines)
      }),
      { numRuns: 300 },
    )
  })

  test('10 MB without a line end stay bounded', () => {
    const chunk = Buffer.alloc(65_536, 0x7a)
    const { lines, cuts } = read([Buffer.from(STAMP), ...Array.from({ length: 160 }, () => chunk)])
    expect(Math.max(...lines.map((line) => line.text.length))).toBeLessThanOrEqual(64 * 1024 + 64)
    expect(cuts).toBeGreaterThan(100)
  })
})
