// What is read of a long log: all of a short one, both ends of a long one, and the pieces with a NaN.
import { expect, test } from 'vitest'
import { createFeed } from '../../../agent/progress/feed.ts'
import { createProgressReader } from '../../../agent/progress/reader.ts'
import { createSkim } from '../../../agent/progress/skim.ts'

const PIECE = 2 ** 20
function taken(bytes: Buffer): { readonly text: string; readonly gaps: number } {
  let text = ''
  let gaps = 0
  const skim = createSkim(
    (more) => (text += more),
    () => (gaps += 1),
  )
  for (let at = 0; at < bytes.length; at += PIECE) skim.push(bytes.subarray(at, at + PIECE))
  skim.end()
  return { text, gaps }
}
const lines = (count: number, line: (at: number) => string): Buffer => Buffer.from(Array.from({ length: count }, (_, at) => line(at)).join(''))

test('a log of a few megabytes is read whole, also where a letter lies across two pieces', () => {
  const bytes = lines(60_000, (at) => `étape ${at} perte ${(3 - at / 1e5).toFixed(4)} — ⣿⣿\n`)
  expect(bytes.length).toBeLessThan(4 * 2 ** 20)
  expect(taken(bytes)).toEqual({ text: bytes.toString('utf8'), gaps: 0 })
})

test('of a long one both ends are whole, no line between is torn, and little is read', () => {
  const line = (at: number): string => `step ${at} | loss ${(3 - at / 1e7).toFixed(4)} | 0.51 s/it | ${'x'.repeat(80)}\n`
  const bytes = lines(400_000, line)
  const { text, gaps } = taken(bytes)
  expect(gaps).toBeGreaterThan(5)
  expect(text.startsWith(bytes.toString('utf8', 0, 2 ** 20))).toBe(true)
  expect(text.endsWith(bytes.toString('utf8', bytes.length - 2 ** 20))).toBe(true)
  expect(text.length).toBeLessThan(0.35 * bytes.length)
})

test('where a loss became NaN is found in the middle of a long log', () => {
  const reader = createProgressReader()
  const feed = createFeed(reader)
  const skim = createSkim(feed.push, feed.drop)
  const bytes = lines(25_000, (at) => `step ${at} loss ${at < 11_999 ? '2.31' : 'nan'} lr 1e-4 ${'.'.repeat(440)}\n`)
  for (let at = 0; at < bytes.length; at += PIECE) skim.push(bytes.subarray(at, at + PIECE))
  skim.end()
  feed.end()
  expect(reader.progress()).toMatchObject({ step: 24_999, lost: true, lostRun: { since: 11_999, lastGood: 2.31 } })
})
