// The books: up, durations, and gaps that count when they appear.
import { describe, expect, test } from 'vitest'
import type { Scrape } from '../../../agent/model/event.ts'
import type { Gap } from '../../../agent/model/reading.ts'
import { createSourceStatistics } from '../../../agent/store/source-statistics.ts'

const fan: Gap = { metric: 'warpwatch_gpu_fan_speed_ratio', labels: { uuid: 'GPU-1' }, reason: 'not_supported' }
const scrape = (t: number, more: Partial<Scrape>): Scrape => ({
  type: 'scrape',
  t,
  source: 'gpu',
  group: 'a',
  ttlMs: 3_000,
  durationMs: 2,
  readings: [],
  gaps: [],
  ...more,
})

describe('statistics', () => {
  test('a gap that stays is one gap, one that returns is two', () => {
    const statistics = createSourceStatistics()
    statistics.ingest(scrape(1_000, { gaps: [fan] }))
    statistics.ingest(scrape(2_000, { gaps: [{ ...fan }] }))
    statistics.ingest(scrape(3_000, { gaps: [] }))
    statistics.ingest(scrape(4_000, { gaps: [fan] }))
    expect(statistics.sources()[0]?.gapsByReason.get('not_supported')).toBe(2)
  })

  test('the duration is the sum over the groups of one tick', () => {
    const statistics = createSourceStatistics()
    for (const group of ['a', 'b', 'c']) statistics.ingest(scrape(1_000, { group }))
    statistics.ingest(scrape(2_000, {}))
    expect(statistics.sources()[0]?.durationMs).toBe(6)
  })

  test('groups that ended are forgotten', () => {
    const statistics = createSourceStatistics()
    statistics.ingest(scrape(1_000, { gaps: [fan] }))
    statistics.expire(10_000)
    statistics.ingest(scrape(11_000, { gaps: [fan] }))
    expect(statistics.sources()[0]?.gapsByReason.get('not_supported')).toBe(2)
  })
})
