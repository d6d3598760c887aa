// What an engine says again when it turns a log over is taken out; lines that only look alike, and those after the clock was set back, stay.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createFrameReader } from '../../../agent/sources/container-logs/frames.ts'
import { createRepeats } from '../../../agent/sources/container-logs/repeats.ts'
import { createBatch } from '../../../agent/sources/logs/batch.ts'

type Line = { readonly stamp: string; readonly text: string; readonly part?: number }
type Repeats = ReturnType<typeof createRepeats>

/** As an engine frames them, torn into chunks of `chunk` bytes. */
function readThrough(repeats: Repeats, lines: readonly Line[], chunk = 1_000): readonly string[] {
  const read: string[] = []
  const frames = createFrameReader({
    onBatch(batch) {
      repeats.sift(batch)
      for (let at = 0; at < batch.count; at++) read.push(batch.bytes.toString('utf8', batch.starts[at], batch.ends[at]))
    },
    onCut: () => {},
  })
  const framed = Buffer.concat(
    lines.map(({ stamp, text, part = 1 }) => {
      const body = Buffer.from(`${stamp} ${text}\n`)
      const head = Buffer.from([part, 0, 0, 0, 0, 0, 0, 0])
      head.writeUInt32BE(body.length, 4)
      return Buffer.concat([head, body])
    }),
  )
  for (let at = 0; at < framed.length; at += chunk) frames.push(framed.subarray(at, at + chunk))
  frames.end()
  return read
}
const at = (n: number): string => `2026-11-20T10:17:00.${String(n).padStart(9, '0')}Z`
const numbered = (from: number, to: number): Line[] => Array.from({ length: to - from }, (_, n) => ({ stamp: at(from + n), text: `line ${from + n}` }))

describe('repeats', () => {
  test('wherever the engine goes back, and however the bytes are torn, each line is read once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ more: fc.integer({ min: 1, max: 60 }), back: fc.nat(80) }), { maxLength: 6 }),
        fc.integer({ min: 20, max: 4_000 }),
        (turns, chunk) => {
          const given: Line[] = numbered(0, 30)
          let next = 30
          for (const { more, back } of turns) {
            given.push(...numbered(Math.max(0, next - back), next), ...numbered(next, next + more))
            next += more
          }
          expect(readThrough(createRepeats(), given, chunk)).toEqual(numbered(0, next).map(({ text }) => text))
        },
      ),
    )
  })

  test('two parts whose times cross are both read, and both taken out when they come again', () => {
    const crossing = [
      { stamp: at(1), text: 'out 1', part: 1 },
      { stamp: at(5), text: 'err 5', part: 2 },
      { stamp: at(3), text: 'out 3', part: 1 },
      { stamp: at(4), text: 'err 4 is late', part: 1 },
    ]
    expect(readThrough(createRepeats(), [...crossing, ...crossing, { stamp: at(6), text: 'end', part: 2 }])).toEqual([
      'out 1',
      'err 5',
      'out 3',
      'err 4 is late',
      'end',
    ])
  })

  test('equal lines of one whole second (Podman) are lines of their own', () => {
    const line = { stamp: '2026-11-20T10:17:00Z', text: 'step' }
    expect(readThrough(createRepeats(), [line, line, line])).toEqual(['step', 'step', 'step'])
  })

  test('pieces of one long message bear one time, and are all read', () => {
    const [first, second] = [`${'x'.repeat(600)}1`, `${'x'.repeat(600)}2`]
    const pieces = [first, second].map((text) => ({ stamp: at(1), text }))
    expect(readThrough(createRepeats(), pieces)).toEqual([first, second])
  })

  test('after the clock was set back earlier times are new', () => {
    let offset = Date.parse('2026-11-20T10:18:00Z')
    let steady = 100_000
    const repeats = createRepeats(
      () => offset + steady,
      () => steady,
    )
    expect(readThrough(repeats, numbered(10, 20))).toHaveLength(10)
    steady += 1_000
    offset -= 5_000
    expect(readThrough(repeats, numbered(0, 10))).toHaveLength(10)
    // A minute later a falling time means a repetition again.
    steady += 120_000
    expect(readThrough(repeats, [...numbered(10, 30), ...numbered(15, 31)])).toHaveLength(21)
  })

  test('a process that waits between its two clocks did not see the clock set back', () => {
    // A test run of 22 minutes on two busy cores once read every repetition as new.
    let time = 100_000
    let wait = 0
    const repeats = createRepeats(
      () => Date.parse('2026-11-20T10:18:00Z') + time,
      () => (time += wait),
    )
    for (const delay of [200, 0, 200, 0]) {
      wait = delay
      repeats.sift(createBatch())
    }
    expect(readThrough(repeats, [...numbered(0, 20), ...numbered(5, 21)])).toHaveLength(21)
  })

  test('a new stream starts over', () => {
    const repeats = createRepeats()
    expect(readThrough(repeats, numbered(10, 20))).toHaveLength(10)
    repeats.reopen()
    expect(readThrough(repeats, numbered(0, 5))).toHaveLength(5)
  })
})
