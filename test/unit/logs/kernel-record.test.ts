// Records of /dev/kmsg: heads with and without further fields, escapes, fragments, what is no record.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { parseRecord } from '../../../agent/sources/kernel-log/record.ts'

describe('a record of /dev/kmsg', () => {
  test('level, facility, number, time and text; the device that follows on its own lines is no part of the text', () => {
    expect(parseRecord('3,4711,98765432,-;mydrv 0000:01:00.0: link lost\n SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n')).toEqual({
      level: 3,
      facility: 0,
      sequence: 4711,
      microseconds: 98_765_432,
      fragment: 'none',
      text: 'mydrv 0000:01:00.0: link lost',
    })
  })

  test('a line that root wrote into it has the facility of a user', () => {
    expect(parseRecord('11,5,1,-;hello\n')).toMatchObject({ level: 3, facility: 1, text: 'hello' })
  })

  test('further fields before the text are passed over, a semicolon and a comma in the text are not', () => {
    expect(parseRecord('6,7,8,-,caller=T12;a;b,c\n')).toMatchObject({ sequence: 7, text: 'a;b,c' })
  })

  test('escaped bytes are what they stand for', () => {
    expect(parseRecord(String.raw`6,1,1,-;caf\xc3\xa9 \x5cx41 a\x0ab` + '\n')?.text).toBe('café \\x41 a\nb')
  })

  test('fragments of a line tell so', () => {
    expect(['c', '+', '-'].map((flag) => parseRecord(`6,1,1,${flag};x\n`)?.fragment)).toEqual(['begin', 'continue', 'none'])
  })

  test('anything else is no record', () => {
    for (const text of ['', 'x', '6,1,1;text', '6,a,1,-;text', ' KEY=value']) expect(parseRecord(text)).toBeUndefined()
    fc.assert(fc.property(fc.string(), (text) => parseRecord(text) === undefined || text.includes(';')))
  })
})
