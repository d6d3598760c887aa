// A page that is read again after it was seen: the same as when it is read for the first time, whatever moved, came or went.
import * as fc from '../../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { readExposition, type Wanted } from '../../../agent/servers/exposition.ts'
import { createSeenPage } from '../../../agent/servers/seen-page.ts'

const wanted: Wanted = (name) => (name.startsWith('w') ? name.slice(1) : undefined)
const line = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('wa', 'wb', 'wb_bucket', 'ua', 'ub', 'ub_sum'),
      fc.constantFrom('', '{m="x"}', '{m="x",le="1"}', '{m="é}\\""}', '{broken, '),
      fc.constantFrom(' ', '  ', '\t'),
      fc.oneof(
        fc.integer({ min: 0, max: 200 }).map((value) => `${value}.0`),
        fc.constantFrom('NaN', '+Inf', '3.5e+010', '', '7 1700000000', '7 # {t="1"} 2'),
      ),
    )
    .map((parts) => (parts[1].startsWith('{broken') ? parts.slice(0, 2) : parts).join('')),
  fc.constantFrom('# TYPE wa gauge', '# HELP ub Not asked for.', ''),
)
const lines = fc.array(line, { maxLength: 25 })
/** Another value, another line, one more, one less. */
const change = fc.record({ at: fc.nat(30), how: fc.constantFrom('value', 'replace', 'insert', 'remove'), line })
const isRead = (text: string): boolean => text.startsWith('w') && !text.includes('{broken') && /^w\w*[{\s]/.test(text)
type Change = { readonly at: number; readonly how: string; readonly line: string }
function changed(page: readonly string[], { at, how, line: other }: Change): string[] {
  const next = [...page]
  const place = page.length === 0 ? 0 : at % page.length
  // One that takes the place of a line that nobody asked for is found a minute later.
  const isNew = how === 'replace' && isRead(other) && !isRead(page[place] ?? '')
  if (how === 'insert' || isNew || page.length === 0) next.splice(place, 0, other)
  else if (how === 'remove') next.splice(place, 1)
  else next[place] = how === 'replace' ? other : (page[place] ?? '').replace(/ [\d.]+$/, ` ${at * 37}.0`)
  return next
}

test('whatever changed since, it is read as a page that was never seen', () => {
  fc.assert(
    fc.property(lines, fc.array(change, { maxLength: 8 }), fc.constantFrom('', '\n'), (first, changes, end) => {
      const seen = createSeenPage()
      let page: readonly string[] = first
      for (const next of [undefined, ...changes]) {
        if (next !== undefined) page = changed(page, next)
        const text = page.join('\n') + end
        expect([...readExposition(text, wanted, seen)]).toEqual([...readExposition(text, wanted)])
      }
    }),
    { numRuns: 500 },
  )
})

test('a value that was none and stands behind another blank is read', () => {
  const seen = createSeenPage()
  readExposition('wa NaN\n', wanted, seen)
  expect(readExposition('wa  7\n', wanted, seen).get('a')).toEqual([{ labels: {}, value: 7 }])
})

test('a second line below a page without a newline at its end is read', () => {
  const seen = createSeenPage()
  readExposition('wa 1', wanted, seen)
  expect(readExposition('wa 1\nwa 2', wanted, seen).get('a')).toHaveLength(2)
})

test('samples and labels of a page with the same lines are kept, and only their values move', () => {
  const page = (value: number): string => `# HELP\nua{m="x"} ${value}\nwa{m="x"} ${value}\nub_sum ${value * 1.37}\nwb{m="y"} ${-value}\nub_sum 1\n`
  const seen = createSeenPage()
  const first = readExposition(page(9), wanted, seen).get('a')?.[0]
  expect(first).toEqual({ labels: { m: 'x' }, value: 9 })
  expect(readExposition(page(12_345), wanted, seen).get('a')?.[0]).toBe(first)
  expect(first?.value).toBe(12_345)
})

test('a line that took the place of one that nobody asked for is there within a minute', () => {
  const seen = createSeenPage()
  readExposition('wa 1\nua 1\nwb 1\n', wanted, seen)
  const sizes = Array.from({ length: 13 }, () => readExposition('wa 1\nwc 1\nwb 1\n', wanted, seen).size)
  expect(sizes.at(-1)).toBe(3)
})

test('two readers of one page have each their own', () => {
  const seen = createSeenPage()
  const other: Wanted = (name) => (name.startsWith('u') ? name : undefined)
  for (const value of [1, 2]) {
    const text = `wa ${value}\nua ${value + 10}\n`
    expect([...readExposition(text, wanted, seen)]).toEqual([['a', [{ labels: {}, value }]]])
    expect([...readExposition(text, other, seen)]).toEqual([['ua', [{ labels: {}, value: value + 10 }]]])
  }
})
