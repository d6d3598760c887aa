// What a card says of memory that runs out: the soonest of its processes, in words that claim no more than is known.
import { expect, test } from 'vitest'
import { forecastOf, forecastText, memoryWarning } from '../../../../dashboard/src/parts/gpu/forecast.ts'
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
  [{ earliest: 1_200, latest: 2_100 }, 'full in 20–35 min'],
  [{ earliest: 1_200, latest: 1_210 }, 'full in about 20 min'],
  [{ earliest: 1_800, latest: 9_000 }, 'full in 30 min to 2.5 h'],
  [{ earliest: 20, latest: 120 }, 'full within 2 min'],
  [{ earliest: undefined, latest: 600 }, 'full within 10 min'],
  [{ earliest: 36_000, latest: undefined }, 'full in 10 h at the earliest'],
  [{ earliest: 0, latest: undefined }, 'may be full at any moment'],
])('%j: %s', (forecast, words) => {
  expect(forecastText(forecast)).toBe(words)
})

const GIB = 2 ** 30
test('a card says how fast its memory rises and when it is full, else that it is near full, else nothing', () => {
  const memory = { memory_used_bytes: 78 * GIB, memory_free_bytes: 2 * GIB, memory_total_bytes: 80 * GIB }
  const ahead = { memory_exhaustion_earliest_seconds: { '1_a': 1_200 }, memory_exhaustion_latest_seconds: { '1_a': 2_100 } }
  expect(memoryWarning(gpu(0, { ...memory, ...ahead }), 24 * 2 ** 20)).toBe('+24 MiB/min, full in 20–35 min')
  expect(memoryWarning(gpu(0, { ...memory, ...ahead }))).toBe('full in 20–35 min')
  expect(memoryWarning(gpu(0, memory))).toBe('97 % full, 2.0 GiB free')
  expect(memoryWarning(gpu(0, { ...memory, memory_used_bytes: 70 * GIB }))).toBeUndefined()
  expect(memoryWarning(gpu(0, { memory_total_bytes: 80 * GIB }))).toBeUndefined()
})
