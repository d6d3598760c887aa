// A figure and its unit are on one line, and so does a flag.
import { expect, test } from 'vitest'
import { wholeParts } from '../../../../dashboard/src/text/whole.ts'

test.each([
  ['took 34.1 GiB in 60 s.', ['34.1 GiB', '60 s']],
  ['at 86 °C, 98 % busy (96 GiB), 24 MiB/min for 2 h 5 min', ['86 °C', '98 %', '96 GiB', '24 MiB', '2 h', '5 min']],
  ['see --query-gpu=name --format=csv', ['--query-gpu=name', '--format=csv']],
  // Neither a word that begins like a unit nor a number of something else.
  ['2 sources on 4 hosts, GPU 6 was lost, batch 8 d-model', []],
])('%s', (text, whole) => {
  const parts = wholeParts(text)
  expect(parts.filter((_, i) => i % 2 === 1)).toEqual(whole)
  expect(parts.join('')).toBe(text)
})
