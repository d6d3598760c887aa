// What is known of a process, on one line: it may be broken between two parts, not within.
import { expect, test } from 'vitest'
import { dotted } from '../../../../dashboard/src/text/format.ts'

test('a figure and its unit stay together, and what is not known is left out', () => {
  expect(dotted(['root', undefined, '', 'running 18 min', '98 % busy'])).toBe('root · running\u00a018\u00a0min · 98\u00a0%\u00a0busy')
})
