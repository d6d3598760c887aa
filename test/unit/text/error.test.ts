// What an error is called: also where Node has no name for it.
import { expect, test } from 'vitest'
import { codeOf, errnoOf, firstLineOf, lineOf, messageOf, stackOf } from '../../../agent/text/error.ts'

test('a quota that is used up has its name, however Node spells it', () => {
  for (const code of ['UNKNOWN', 'Unknown system error -122']) {
    const error = Object.assign(new Error(`${code}: something, write`), { errno: -122, code, syscall: 'write' })
    expect([codeOf(error), messageOf(error)]).toEqual(['EDQUOT', 'EDQUOT: disk quota exceeded, write'])
  }
  const other = Object.assign(new Error('ENOSPC: no space left on device, write'), { errno: -28, code: 'ENOSPC', syscall: 'write' })
  expect([codeOf(other), messageOf(other)]).toEqual(['ENOSPC', 'ENOSPC: no space left on device, write'])
})

test('whatever was thrown has a text, and a code only when it has one', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { errno: -111, code: 'ECONNREFUSED' })
  expect([codeOf(refused), errnoOf(refused), messageOf(refused)]).toEqual(['ECONNREFUSED', 111, 'connect ECONNREFUSED'])
  expect([codeOf('gone'), errnoOf('gone'), messageOf('gone'), stackOf('gone'), lineOf('gone')]).toEqual([undefined, undefined, 'gone', 'gone', 'gone'])
  expect(firstLineOf(new Error('no such library\nsearched: /a, /b'))).toBe('no such library')
  expect(stackOf(new Error('ours'))).toMatch(/^Error: ours\n\s+at /)
})

test('one line says all that several failures say, and at least the code or the name', () => {
  expect(lineOf(new AggregateError([new Error('a refused'), new Error('b\nrefused')]))).toBe('a refused; b refused')
  expect(lineOf(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED')
  expect(lineOf(new TypeError(''))).toBe('TypeError')
  expect(lineOf(new Error('x'.repeat(999)))).toHaveLength(300)
})
