// /readyz when the clock is set back: what was sampled "in an hour" says nothing of now.
import { expect, test } from 'vitest'
import { createReadiness } from '../../../agent/http/health.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { fillStore, T } from './fixture.ts'

test('a clock that was set back does not keep an agent ready that samples nothing', () => {
  const latest = createLatestStore()
  fillStore(latest)
  let now = T
  const ready = createReadiness(latest, () => now)
  expect(ready().ready).toBe(true)
  now = T - 3_600_000
  expect(ready().ready).toBe(false)
  now = T + 1_000
  expect(ready().ready).toBe(true)
  now = T + 3_600_000
  expect(ready().ready).toBe(false)
})
