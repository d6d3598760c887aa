// Resuming a container's log by time: what was read before is taken out, nothing else, also where many lines bear one time.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createFrameReader } from '../../../agent/sources/container-logs/frames.ts'
import { createResume } from '../../../agent/sources/container-logs/resume.ts'
import { compareStamps, stampSince } from '../../../agent/sources/container-logs/stamp.ts'

type Line = { readonly stamp: string; readonly text: string }
function readThrough(resume: ReturnType<typeof createResume>, lines: readonly Line[]): readonly string[] {
  const read: string[] = []
  const frames = createFrameReader({
    onBatch(batch) {
      resume.sift(batch)
      for (let at = 0; at < batch.count; at++) read.push(batch.bytes.toString('utf8', batch.starts[at], batch.ends[at]))
    },
    onCut: () => {},
  })
  frames.push(Buffer.from(lines.map(({ stamp, text }) => `${stamp} ${text}\n`).join('')))
  frames.end()
  return read
}
const second = (n: number): string => `2026-11-20T10:17:${String(n).padStart(2, '0')}Z`

describe('resume', () => {
  test('lines of the newest time that came after the cut are read, those before it are not', () => {
    const first = createResume(undefined)
    expect(
      readThrough(first, [
        { stamp: second(1), text: 'a' },
        { stamp: second(2), text: 'b' },
        { stamp: second(2), text: 'b' },
      ]),
    ).toEqual(['a', 'b', 'b'])
    const again = createResume(first.cursor())
    const repeated = ['b', 'b', 'b', 'c'].map((text) => ({ stamp: second(2), text }))
    expect(readThrough(again, [...repeated, { stamp: second(3), text: 'b' }])).toEqual(['b', 'c', 'b'])
  })

  test('wherever a log is cut and resumed, each line is read once', () => {
    const line = fc.record({ step: fc.constantFrom(0, 0, 1), text: fc.constantFrom('a', 'b', 'c') })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), fc.nat(40), (steps, cutAt) => {
        let at = 0
        const lines = steps.map(({ step, text }) => ({ stamp: second((at += step)), text }))
        const cut = cutAt % (lines.length + 1)
        const before = createResume(undefined)
        const read = readThrough(before, lines.slice(0, cut))
        const since = before.stamp()
        const after = createResume(before.cursor())
        // An engine gives what bears this time or a later one.
        const given = lines.filter(({ stamp }) => since === undefined || stamp >= since)
        expect([...read, ...readThrough(after, given)]).toEqual(lines.map(({ text }) => text))
      }),
    )
  })

  test('times compare and become `since` to the nanosecond, whatever their length and zone', () => {
    expect(compareStamps('2026-11-20T10:17:00.000000001Z', '2026-11-20T10:17:00.000000002Z')).toBeLessThan(0)
    expect(compareStamps('2026-11-20T10:17:00.5Z', '2026-11-20T10:17:00.499999999Z')).toBeGreaterThan(0)
    expect(compareStamps('2026-11-20T11:17:00+01:00', '2026-11-20T10:17:00Z')).toBe(0)
    expect(stampSince('2026-11-20T10:17:00.123456789Z')).toBe(`${Date.UTC(2026, 10, 20, 10, 17) / 1000}.123456789`)
  })
})
