// What the filter of the overview and the palette find.
import { describe, expect, test } from 'vitest'
import { match, type Entry } from '../../../../dashboard/src/page/reach/match.ts'
import { hasWords, wordsOf } from '../../../../dashboard/src/parts/live/find.ts'

test('a row is found when all words stand in it, in any order and case', () => {
  const row = ['python3', 4711, undefined, 'search-embedder-1']
  expect(hasWords(wordsOf('EMBED 47'), row)).toBe(true)
  expect(hasWords(wordsOf('embed ada'), row)).toBe(false)
  expect(hasWords(wordsOf('  '), row)).toBe(true)
  expect(hasWords(wordsOf('undefined'), row)).toBe(false)
})

const entry = (group: Entry['group'], label: string, more: Partial<Entry> = {}): Entry => ({
  id: `${group} ${label}`,
  group,
  label,
  act: { href: '#/' },
  ...more,
})
const ENTRIES = [
  entry('Page', 'Jobs'),
  entry('GPU', 'GPU 1', { hint: 'H100 80GB HBM3' }),
  entry('GPU', 'GPU 3', { words: 'GPU-aaa 0000:9B:00.0' }),
  entry('Job', 'train', { hint: '65 GiB on GPU 3' }),
  entry('Process', 'python (7)', { words: 'python train.py' }),
]
const found = (query: string): readonly string[] => match(ENTRIES, query).map(({ label }) => label)

describe('the palette', () => {
  test('lists all in their order while nothing is typed', () => expect(found('')).toEqual(ENTRIES.map(({ label }) => label)))
  test('puts first what begins with the first word, then what has it, then what is only told of it', () => {
    expect(found('gpu 3')).toEqual(['GPU 3', 'GPU 1', 'train'])
    expect(found('train')).toEqual(['train', 'python (7)'])
  })
  test('finds a card by its bus address, a job by its kind', () => {
    expect(found('9b:00')).toEqual(['GPU 3'])
    expect(found('job')).toEqual(['Jobs', 'train'])
  })
  test('finds nothing where nothing fits', () => expect(found('zzz')).toEqual([]))
  test('shows no more than can be looked through', () => {
    const many = Array.from({ length: 500 }, (_, i) => entry('Process', `python (${i})`))
    expect(match(many, 'python').length).toBeLessThan(100)
  })
})
