import { expect, test } from 'vitest'
import type { LineBatch } from '../../../agent/sources/logs/batch.ts'
import { createLineBuffer } from '../../../agent/sources/logs/line-buffer.ts'
import { createLogTail } from '../../../agent/sources/logs/log-tail.ts'

function tailOf(...chunks: readonly string[]): readonly string[] {
  const tail = createLogTail()
  const lines = createLineBuffer({ onBatch: (batch: LineBatch) => tail.take(batch), onCut: () => {} })
  for (const chunk of chunks) lines.push(Buffer.from(chunk))
  return tail.finish()
}

test('a short log is kept whole, line by line or in one piece; a second end has nothing', () => {
  const words = ['step 1', '', 'Übung', 'Traceback (most recent call last):']
  expect(tailOf(`${words.join('\n')}\n`)).toEqual(words)
  expect(tailOf(...words.map((word) => `${word}\n`))).toEqual(words)
  expect(tailOf()).toEqual([])
})

test('of a long log whole last lines within 32 KiB, however it came', () => {
  const all = Array.from({ length: 20_000 }, (_, at) => `line ${at} ${'x'.repeat(at % 90)}`)
  for (const step of [1, 7, 1_000, 20_000]) {
    const chunks = Array.from({ length: Math.ceil(all.length / step) }, (_, at) => `${all.slice(at * step, (at + 1) * step).join('\n')}\n`)
    const kept = tailOf(...chunks)
    const bytes = kept.join('\n').length
    expect(bytes).toBeLessThanOrEqual(32 * 1024)
    expect(bytes).toBeGreaterThan(15 * 1024)
    expect(kept).toEqual(all.slice(-kept.length))
  }
})

test('a line without an end is cut, and what follows it is there', () => {
  const kept = tailOf(`${'y'.repeat(100_000)}\nlast\n`)
  expect(kept.at(-1)).toBe('last')
  expect(kept[0]?.length).toBe(4 * 1024)
})
