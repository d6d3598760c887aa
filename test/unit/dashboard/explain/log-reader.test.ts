// The log beside its answer: the right lines, whatever the size and wherever pieces end; and the answer as Markdown.
import { fileSizeText } from '../../../../agent/text/bytes.ts'
import { describe, expect, test } from 'vitest'
import { explainStream } from '../../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../../agent/diagnosis/log-scanner.ts'
import { createLogReader, notTextOf, windowsAround } from '../../../../dashboard/src/features/explain/reader/log-reader.ts'
import { markdownOf } from '../../../../dashboard/src/text/explain.ts'

const OOM =
  'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 24.00 GiB total capacity; 20.00 GiB already allocated; 1.00 GiB free; 21.00 GiB reserved in total by PyTorch)'

function readerOf(text: string) {
  const bytes = new TextEncoder().encode(text)
  const reported: number[] = []
  const reader = createLogReader(
    bytes.length,
    (from, to) => bytes.slice(from, to),
    (done) => reported.push(done),
  )
  const faults = explainStream(logScanner(), reader.pieces())
  return { reader, faults, reported, size: bytes.length, marked: faults.flatMap(({ evidence }) => evidence.map(({ line }) => line)) }
}

describe('the lines of a log', () => {
  test('all of a short one, counted as the judgment counts them', () => {
    const { reader, marked } = readerOf(`first\r\nsecond\rthird\n${OOM}\n`)
    expect(reader.lineCount()).toBe(4)
    expect(marked).toEqual([4])
    expect(reader.linesAround(marked).map(({ line, text }) => [line, text])).toEqual([
      [1, 'first'],
      [2, 'second'],
      [3, 'third'],
      [4, OOM],
    ])
  })

  test('those around the fault of a long one, over the ends of pieces', () => {
    const lines = Array.from({ length: 160_000 }, (_, i) => (i === 131_071 ? OOM : `step ${i + 1} of an epoch that is long – loss 0.${i}`))
    const { reader, marked, reported, size } = readerOf(`${lines.join('\r\n')}\n`)
    expect(size).toBeGreaterThan(5 * 2 ** 20)
    expect(reported.at(-1)).toBe(size)
    expect(reported.length).toBeGreaterThan(1)
    expect(reader.lineCount()).toBe(160_000)
    expect(marked).toEqual([131_072])
    const shown = reader.linesAround([2, ...marked, 159_999])
    expect(shown.length).toBe(14 + 25 + 14)
    for (const { line, text } of shown) expect(text).toBe(lines[line - 1])
    // A window that begins in a line which a place of the reader's index cuts in two (one each 256 KiB).
    let at = 0
    const cut = lines.slice(0, 140_000).flatMap((text, i) => {
      const from = at
      at += Buffer.byteLength(text) + 2
      return Math.floor(from / 2 ** 18) === Math.floor((at - 1) / 2 ** 18) ? [] : [{ line: i + 1, text }]
    })
    expect(cut.length).toBeGreaterThan(15)
    expect(cut.map(({ line }) => reader.linesAround([line + 12])[0])).toEqual(cut)
  })

  test('of a line longer than many pieces only its beginning is kept', () => {
    const { reader } = readerOf(`a\n${'x'.repeat(6 * 2 ** 20)}\n${Array.from({ length: 500 }, () => 'y').join('\n')}`)
    const [, long, after] = reader.linesAround([2])
    expect(reader.lineCount()).toBe(502)
    expect(long?.text.length).toBeLessThan(2_100)
    expect(long?.text).toMatch(/^x+ \[…cut\]$/)
    expect(after).toEqual({ line: 3, text: 'y' })
  })

  test('what is marked first is shown where not all can be', () => {
    const marks = Array.from({ length: 1_000 }, (_, i) => 100_000 - i * 90)
    const windows = windowsAround(marks, 200_000)
    expect(windows.at(-1)).toEqual({ from: 99_988, to: 100_012 })
    expect(windows.reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBeLessThan(3_100)
    expect(windowsAround([], 100_000)).toEqual([])
    expect(windowsAround([5], 400)).toEqual([{ from: 1, to: 400 }])
  })
})

test('files that are no plain text are known by their first bytes', () => {
  expect(notTextOf(Uint8Array.of(0x1f, 0x8b, 8, 0))).toBe('gzip')
  expect(notTextOf(Uint8Array.of(0xff, 0xfe, 0x41, 0))).toBe('utf-16')
  expect(notTextOf(new TextEncoder().encode('PK is how it begins'))).toBeUndefined()
  expect(notTextOf(new Uint8Array(0))).toBeUndefined()
})

test('sizes as file managers tell them', () => {
  expect([0, 999, 1_500, 12_345, 209_753_215].map(fileSizeText)).toEqual(['0 B', '999 B', '1.5 kB', '12 kB', '210 MB'])
})

test('the answer as Markdown: words of a log stay words, a fence is longer than those in it', () => {
  const markdown = markdownOf([
    {
      kind: 'cuda_oom',
      severity: 'critical',
      title: 'Out of <memory>',
      verdict: 'It_was *full*.',
      facts: {},
      remedies: [{ text: 'Need less', command: 'a\nb' }],
      evidence: [{ line: 7, text: '```js' }],
    },
  ])
  expect(markdown).toBe(
    '## Out of \\<memory\\> (`cuda_oom`)\n\nIt\\_was \\*full\\*.\n\n````\n7: ```js\n````\n\n**What to do**\n\n- Need less\n\n  ```\n  a\n  b\n  ```\n\n',
  )
})
