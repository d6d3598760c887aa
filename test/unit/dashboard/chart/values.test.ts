// Figures of an axis are as short as they are round: none says 0.50 beside 1.5.
import { expect, test } from 'vitest'
import { shortest } from '../../../../dashboard/src/parts/chart/values.ts'

test.each([
  ['0.50', '0.5'],
  ['1.5', '1.5'],
  ['3.00 GHz', '3 GHz'],
  ['2.25 GHz', '2.25 GHz'],
  ['15.0', '15'],
  ['100 W', '100 W'],
  ['1,000', '1,000'],
])('%s stands as %s', (text, short) => {
  expect(shortest(text)).toBe(short)
})
