// What an error is called: also where Node has no name for it.
import { expect, test } from 'vitest'
import { codeOf, messageOf } from '../../../agent/lib/error-words.ts'

test('a quota that is used up has its name, however Node spells it', () => {
  for (const code of ['UNKNOWN', 'Unknown system error -122']) {
    const error = Object.assign(new Error(`${code}: something, write`), { errno: -122, code, syscall: 'write' })
    expect([codeOf(error), messageOf(error)]).toEqual(['EDQUOT', 'EDQUOT: disk quota exceeded, write'])
  }
  const other = Object.assign(new Error('ENOSPC: no space left on device, write'), { errno: -28, code: 'ENOSPC', syscall: 'write' })
  expect([codeOf(other), messageOf(other)]).toEqual(['ENOSPC', 'ENOSPC: no space left on device, write'])
})
