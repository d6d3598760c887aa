// Ends in lines that nobody would print: no longer than the line is, and only so much kept.
import { describe, expect, test } from 'vitest'
import { createEndReader } from '../../../agent/diagnosis/ends/end-reader.ts'
import { judgeEnd } from '../../../agent/diagnosis/ends/judge.ts'
import { readSituation } from '../../../agent/diagnosis/situation/situation.ts'
import { isBounded } from '../../setup/bounded.ts'

const traceback = (error: string): readonly string[] => [
  'Traceback (most recent call last):',
  '  File "/srv/job/main.py", line 4, in <module>',
  '    main()',
  error,
]

describe('lines that nobody would print', () => {
  const WORDS = [
    'Traceback (most recent call last):',
    '  File "a.py", line 3, in f',
    'ValueError: ',
    'RuntimeError: shapes ',
    "terminate called after throwing an instance of '",
    'srun: error: n1: tasks 0',
    '*** JOB 1 ON n1 CANCELLED AT ',
    'step 1 loss nan ',
    'error: ',
    'Process ',
    'reason: ',
    '│ /srv/',
    'Exception in thread "',
    "thread 'main' panicked at ",
    'ERROR 03-02 10:00:00 [core.py:1] ',
    '100%|',
  ]
  const FILLERS = [
    ' ',
    'a',
    '0',
    '.',
    ':',
    '/a',
    "'",
    '"',
    '(',
    '[',
    '| ',
    '│ ',
    'loss ',
    'Error: ',
    'a.b',
    ', line 3',
    'not ',
    'is a ',
    '%|',
    'File "',
    '-',
    '~',
    '\u001b[0m',
  ]
  test('take no longer than their length', () => {
    const slow: string[] = []
    for (const word of WORDS) {
      for (const filler of FILLERS) {
        const long = word + filler.repeat(Math.ceil(65_536 / filler.length))
        const read = (): void => {
          const reader = createEndReader()
          for (const [index, line] of ['Traceback (most recent call last):', '  File "a.py", line 3, in f', long, `RuntimeError: ${long}`, long].entries())
            reader.add(line, index + 1)
          judgeEnd(reader.evidence(), [], () => readSituation(''))
        }
        if (!isBounded(read)) slow.push(JSON.stringify(word + filler))
      }
    }
    expect(slow).toEqual([])
  })
  test('thirty thousand tracebacks of ten thousand writers: only so much is kept', () => {
    const reader = createEndReader()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 30_000; i += 1) traceback(`ValueError: ${'x'.repeat(300)}`).forEach((line, n) => reader.add(`[rank${i % 10_000}]: ${line}`, i * 4 + n))
    expect(reader.evidence().signs.length).toBeLessThan(400)
    globalThis.gc?.()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(96 * 2 ** 20)
  })
})
