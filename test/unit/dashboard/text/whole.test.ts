// A figure and its unit stand on one line.
import { expect, test } from 'vitest'
import { wholeFigures } from '../../../../dashboard/src/text/whole.ts'

test.each([
  ['took 34.1 GiB in 60 s.', 'took 34.1\u00a0GiB in 60\u00a0s.'],
  ['at 86 °C, 98 % busy (96 GiB), 24 MiB/min for 2 h 5 min', 'at 86\u00a0°C, 98\u00a0% busy (96\u00a0GiB), 24\u00a0MiB/min for 2\u00a0h 5\u00a0min'],
  // Neither a word that begins like a unit nor a flag.
  ['2 sources on 4 hosts, GPU 6 was lost, batch 8 d-model', '2 sources on 4 hosts, GPU 6 was lost, batch 8 d-model'],
])('%s', (text, whole) => {
  expect(wholeFigures(text)).toBe(whole)
})
