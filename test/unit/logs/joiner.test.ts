// Lines that belong together become one text: tracebacks, wrapped messages, ranks side by side; nothing lost, nothing unbounded.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createJoiner } from '../../../agent/sources/logs/joiner.ts'
import { isBounded } from '../../setup/bounded.ts'

type Line = { readonly text: string; readonly t?: number; readonly part?: number; readonly now?: number }
function join(lines: readonly Line[]): readonly string[] {
  const reported: string[] = []
  const joiner = createJoiner<undefined>({ emit: ({ text }) => void reported.push(text), prefer: () => undefined })
  for (const { text, t = 0, part = 0, now = 0 } of lines) {
    joiner.advance(now)
    joiner.push({ t, text, part, mark: undefined }, now)
  }
  joiner.flush()
  return reported
}
const of = (text: string): readonly Line[] => text.split('\n').map((line) => ({ text: line }))

const TRACEBACK = `Traceback (most recent call last):
  File "/app/train.py", line 12, in <module>
    main()
ValueError: bad shape
expected (3, 4)`

describe('joiner', () => {
  test('a traceback with a message of two lines is one text, the next record another', () => {
    expect(join(of(`${TRACEBACK}\n2026-11-20 10:17:01 INFO next`))).toEqual([TRACEBACK, '2026-11-20 10:17:01 INFO next'])
  })

  test("the logger's own line stands above the traceback that it announces", () => {
    const text = `2026-11-20 10:17:00 ERROR step 3 failed\n${TRACEBACK}`
    expect(join(of(text))).toEqual([text])
  })

  test('chained tracebacks are one text', () => {
    const text = `${TRACEBACK}\n\nDuring handling of the above exception, another exception occurred:\n\n${TRACEBACK}`
    expect(join(of(text))).toEqual([text])
  })

  test('plain lines stay apart, indented ones belong to what is above', () => {
    expect(join(of('step 1\nstep 2\n  detail\nstep 3'))).toEqual(['step 1', 'step 2\n  detail', 'step 3'])
  })

  test('tracebacks of several ranks, line by line in turns, come apart', () => {
    const ranks = [0, 1].map((rank) => TRACEBACK.split('\n').map((line) => `[rank${rank}]: ${line}`))
    const turns = (ranks[0] ?? []).flatMap((line, at) => [{ text: line }, { text: ranks[1]?.[at] ?? '' }])
    expect(join(turns)).toEqual(ranks.map((rank) => rank.join('\n')))
  })

  test('stdout does not come between the lines of a traceback on stderr', () => {
    const lines = TRACEBACK.split('\n').flatMap((text) => [
      { text, part: 2 },
      { text: 'progress', part: 1 },
    ])
    expect(join(lines)).toContain(TRACEBACK)
  })

  test('a message of several lines is over when the writer paused', () => {
    expect(
      join([
        { text: 'RuntimeError: a', t: 0 },
        { text: 'wrapped', t: 10 },
        { text: 'later', t: 500 },
      ]),
    ).toEqual(['RuntimeError: a\nwrapped', 'later'])
  })

  test('silence completes a message; one that goes on is told after a quarter of a second', () => {
    const reported: string[] = []
    const joiner = createJoiner<undefined>({ emit: ({ text }) => void reported.push(text), prefer: () => undefined })
    joiner.push({ t: 0, text: 'Error: a', part: 0, mark: undefined }, 0)
    expect(joiner.advance(99)).toBe(100)
    joiner.push({ t: 0, text: '  b', part: 0, mark: undefined }, 99)
    joiner.push({ t: 0, text: '  c', part: 0, mark: undefined }, 190)
    expect(joiner.advance(240)).toBe(250)
    expect(reported).toEqual([])
    expect(joiner.advance(250)).toBeUndefined()
    expect(reported).toEqual(['Error: a\n  b\n  c'])
  })

  test('no line is lost, doubled or out of its order, and no text is beyond the bounds', () => {
    const text = fc.oneof(
      fc.constantFrom(
        'Traceback (most recent call last):',
        '  File "a.py", line 1',
        'ValueError: x',
        'INFO ok',
        '',
        '}',
        '\tat x',
        'During handling of the above exception, another exception occurred:',
      ),
      fc.string({ maxLength: 3_000 }).map((line) => line.replaceAll(/[\r\n]/g, ' ')),
    )
    const line = fc.record({ text, part: fc.constantFrom(1, 2), step: fc.nat(60) })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 300 }), (lines) => {
        const reported: { text: string; mark: number }[] = []
        const joiner = createJoiner<number>({ emit: (joined) => void reported.push(joined), prefer: (before) => before })
        let now = 0
        for (const { text, part, step } of lines) {
          now += step
          joiner.advance(now)
          joiner.push({ t: now, text, part, mark: part }, now)
        }
        joiner.flush()
        const filled = (texts: readonly string[]): readonly string[] => texts.filter((each) => each.trim() !== '').sort()
        for (const part of [1, 2]) {
          const said = reported.filter(({ mark }) => mark === part)
          // Several prefixes may be open at once; within each the order holds, over all the set does.
          expect(filled(said.flatMap((joined) => joined.text.split('\n')))).toEqual(filled(lines.filter((each) => each.part === part).map((each) => each.text)))
        }
        for (const joined of reported) {
          expect(joined.text.split('\n').length).toBeLessThanOrEqual(200)
          expect(Buffer.byteLength(joined.text)).toBeLessThanOrEqual(64 * 1024)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('hostile lines cost no more than their length', () => {
    const hostile = [
      '(',
      '[rank',
      '((((((',
      'a-'.repeat(120_000),
      ' '.repeat(240_000),
      'Traceback '.repeat(24_000),
      `[${'1'.repeat(240_000)}`,
      `${'x'.repeat(240_000)} |`,
    ]
    expect(isBounded(() => void join(hostile.map((text) => ({ text }))))).toBe(true)
  })
})
