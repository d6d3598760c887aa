// A scrape of given readings; apart from the harness, which only runs inside vitest.
import type { Scrape } from '../../../agent/model/event.ts'
import type { Series } from '../../../agent/model/series.ts'

export const scrape = (t: number, readings: readonly (readonly [Series, number])[]): Scrape => ({
  type: 'scrape',
  t,
  source: 'test',
  group: '',
  ttlMs: 3_000,
  durationMs: 1,
  readings: readings.map(([series, value]) => ({ series, value })),
  gaps: [],
})
