// The nearest name: a distance in the mathematical sense, and a typo finds its way back.
import * as fc from '../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { nearestKey } from '../../agent/config/setting.ts'
import { KEYS } from '../../agent/config/schema.ts'
import { editDistance, nearest } from '../../agent/lib/nearest.ts'

const word = fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', 'c', '_') })

test('distance is 0 for equals only, symmetric, and bounded by the longer word', () => {
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b)
      expect(distance === 0).toBe(a === b)
      expect(editDistance(b, a)).toBe(distance)
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length))
      expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length))
    }),
  )
})

test('one edit is one edit: drop, insert, replace, swap of neighbours', () => {
  fc.assert(
    fc.property(
      word.filter((text) => text.length >= 2),
      fc.nat(),
      fc.constantFrom('x', 'y'),
      (text, seed, letter) => {
        const at = seed % (text.length - 1)
        expect(editDistance(text, text.slice(0, at) + text.slice(at + 1))).toBe(1)
        expect(editDistance(text, text.slice(0, at) + letter + text.slice(at))).toBe(1)
        expect(editDistance(text, text.slice(0, at) + letter + text.slice(at + 1))).toBe(1)
        const swapped = text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2)
        expect(editDistance(text, swapped)).toBe(swapped === text ? 0 : 1)
      },
    ),
  )
})

test('nearest is never farther than any other candidate', () => {
  fc.assert(
    fc.property(word, fc.array(word, { minLength: 1 }), (name, candidates) => {
      const found = nearest(name, candidates)
      if (found === undefined) throw new Error('there are candidates, so one of them is nearest')
      for (const candidate of candidates) expect(editDistance(name, found)).toBeLessThanOrEqual(editDistance(name, candidate))
    }),
  )
})

test('every key is found again after any of its letters is doubled', () => {
  for (const path of KEYS.keys())
    for (let at = path.lastIndexOf('.') + 1; at < path.length; at++) expect(nearestKey(path.slice(0, at + 1) + path.slice(at))).toBe(path)
})

test('a name as long as a line of outside text costs no more than one of 100 characters', () => {
  const cost = (name: string): number => {
    const before = process.cpuUsage()
    for (let round = 0; round < 20; round += 1) expect(nearest(name, KEYS.keys())).toBeDefined()
    return process.cpuUsage(before).user / 1_000
  }
  cost('http.listn')
  expect(cost('x'.repeat(65_536))).toBeLessThan(8 * Math.max(cost('x'.repeat(100)), 5))
})
