// What a card says of memory that runs out: the soonest of its processes, in words that claim no more than is known.
import { expect, test } from 'vitest'
import { forecastOf, forecastText } from '../../../../dashboard/src/parts/gpu/forecast.ts'
import { gpu } from '../helpers.ts'

const of = (earliest: Record<string, number>, latest: Record<string, number> = {}) =>
  forecastOf(gpu(0, { memory_exhaustion_earliest_seconds: earliest, memory_exhaustion_latest_seconds: latest }))

test('nothing is said where the agent says nothing', () => {
  expect(forecastOf(gpu(0))).toBeUndefined()
})

test('the process that fails first counts, with its own far end', () => {
  expect(of({ '1_a': 5_000, '2_b': 1_200 }, { '1_a': 6_000, '2_b': 2_100 })).toEqual({ earliest: 1_200, latest: 2_100 })
  expect(of({ '2_b': 1_200 }, { '1_a': 600 })).toEqual({ earliest: undefined, latest: 600 })
})

test.each([
  [{ earliest: 1_200, latest: 2_100 }, 'runs out in 20 to 35 min'],
  [{ earliest: 1_800, latest: 9_000 }, 'runs out in 30 min to 2.5 h'],
  [{ earliest: 20, latest: 120 }, 'runs out within 2 min'],
  [{ earliest: undefined, latest: 600 }, 'runs out within 10 min'],
  [{ earliest: 36_000, latest: undefined }, 'runs out in 10 h at the earliest'],
  [{ earliest: 0, latest: undefined }, 'runs out from now on'],
])('%j: %s', (forecast, words) => {
  expect(forecastText(forecast)).toBe(words)
})
