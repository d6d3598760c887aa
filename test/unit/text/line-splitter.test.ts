// Text to lines: however the stream is cut, and what becomes of a line that is too long.
import * as fc from '../../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { createLineSplitter } from '../../../agent/text/line-splitter.ts'

test.each(['drop', 'cut'] as const)('lines are the same however the stream is cut; of a longer line: %s', (overlong) => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 60 }),
      fc.array(fc.nat(60), { maxLength: 12 }),
      fc.integer({ min: 1, max: 8 }),
      (text, cuts, maxChars) => {
        let tooLong = 0
        const splitter = createLineSplitter({ maxChars, overlong, onOverlong: () => void (tooLong += 1) })
        const places = [...new Set(cuts.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
        const found = [0, ...places].flatMap((from, i) => splitter.push(text.slice(from, places[i] ?? text.length)))
        found.push(...splitter.end())
        const whole = text.split('\n')
        if (whole.at(-1) === '') whole.pop()
        expect(found).toEqual(overlong === 'drop' ? whole.filter((line) => line.length <= maxChars) : whole.map((line) => line.slice(0, maxChars)))
        expect(tooLong).toBe(whole.filter((line) => line.length > maxChars).length)
      },
    ),
    { numRuns: 1_000 },
  )
})
