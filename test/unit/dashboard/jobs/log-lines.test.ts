// The page's copy of a job's log: grows with the agent's answers, is bounded, and finds the moment that an incident leads to.
import { describe, expect, test } from 'vitest'
import { grown, lineAt, MOST_LINES, NO_TAIL, parseTail } from '../../../../dashboard/src/features/jobs/page/log-lines.ts'

const answer = (next: number, ...texts: readonly string[]) => ({ lines: texts.map((text, i) => ({ t: (next * 10 + i) * 1000, text })), next })
const texts = ({ lines }: { readonly lines: readonly { readonly text: string }[] }): readonly string[] => lines.map(({ text }) => text)

describe('the lines of a log', () => {
  test('grow by what an answer adds, each under a number of its own', () => {
    const both = grown(grown(NO_TAIL, answer(2, 'a', 'b')), answer(3, 'c'))
    expect(texts(both)).toEqual(['a', 'b', 'c'])
    expect(new Set(both.lines.map(({ id }) => id)).size).toBe(3)
    expect(both.next).toBe(3)
  })
  test('stay the same list where nothing came', () => {
    const one = grown(NO_TAIL, answer(2, 'a'))
    expect(grown(one, answer(2)).lines).toBe(one.lines)
  })
  test('of an agent that was started anew are only its own', () => {
    expect(texts(grown(grown(NO_TAIL, answer(90, 'old')), answer(1, 'new')))).toEqual(['new'])
  })
  test('are bounded', () => {
    const many = grown(NO_TAIL, answer(1, ...Array.from({ length: MOST_LINES + 20 }, (_, i) => String(i))))
    expect(many.lines).toHaveLength(MOST_LINES)
    expect(texts(many).at(-1)).toBe(String(MOST_LINES + 19))
  })
  test('what is no answer is refused, a line that is none left out', () => {
    expect(parseTail({ lines: [{ t: 1, text: 'x' }, { t: 'x' }, null], next: 4 })).toEqual({ lines: [{ t: 1, text: 'x' }], next: 4 })
    for (const wrong of [null, [], {}, { lines: 'x', next: 1 }, { lines: [] }]) expect(() => parseTail(wrong)).toThrow('a log must be lines')
  })
})
test('a moment is the first line of its second or later; none where its lines are gone', () => {
  const { lines } = grown(NO_TAIL, answer(10, 'at 100', 'at 101', 'at 102'))
  expect(lineAt(lines, 101)?.text).toBe('at 101')
  expect(lineAt(lines, 500)?.text).toBe('at 102')
  expect(lineAt(lines, 50)).toBeUndefined()
  expect(lineAt([], 50)).toBeUndefined()
})
