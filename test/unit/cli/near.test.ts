// A suggestion is given only where it was probably meant: what is far off gets none.
import { describe, expect, test } from 'vitest'
import { near } from '../../../agent/lib/nearest.ts'

const COMMANDS = ['run', 'alerts', 'config', 'doctor', 'explain', 'fit', 'hang', 'help', 'incidents', 'jobs', 'replay', 'rules', 'status', 'top', 'version']

describe('near', () => {
  test.each([
    ['confg', 'config'],
    ['stauts', 'status'],
    ['jbos', 'jobs'],
    ['explian', 'explain'],
    ['incid', 'incidents'],
    ['ver', 'version'],
    ['TOP', 'top'],
    ['tpo', 'top'],
    ['helpp', 'help'],
    ['replya', 'replay'],
  ])('%s means %s', (typed, meant) => expect(near(typed, COMMANDS)).toBe(meant))

  test.each(['constructor', 'nvidia', 'ls', 'x', '', 'training', 'start-agent', '🦊', 'a'.repeat(10_000), 'r', 'he11o world'])('%.20s means nothing', (typed) =>
    expect(near(typed, COMMANDS)).toBeUndefined(),
  )

  test('of several that begin alike none is guessed', () => expect(near('re', ['replay', 'reload', 'remove'])).toBeUndefined())
})
