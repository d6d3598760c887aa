// The books: up, durations, and gaps that count when they appear.
import { describe, expect, test } from 'vitest'
import type { Scrape } from '../../../agent/model/event.ts'
import type { Gap } from '../../../agent/model/reading.ts'
import { createLedger } from '../../../agent/store/ledger.ts'

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

describe('ledger', () => {
  test('a gap that stays is one gap, one that returns is two', () => {
    const ledger = createLedger()
    ledger.ingest(scrape(1_000, { gaps: [fan] }))
    ledger.ingest(scrape(2_000, { gaps: [{ ...fan }] }))
    ledger.ingest(scrape(3_000, { gaps: [] }))
    ledger.ingest(scrape(4_000, { gaps: [fan] }))
    expect(ledger.sources()[0]?.gapsByReason.get('not_supported')).toBe(2)
  })

  test('the duration is the sum over the groups of one tick', () => {
    const ledger = createLedger()
    for (const group of ['a', 'b', 'c']) ledger.ingest(scrape(1_000, { group }))
    ledger.ingest(scrape(2_000, {}))
    expect(ledger.sources()[0]?.durationMs).toBe(6)
  })

  test('groups that ended are forgotten', () => {
    const ledger = createLedger()
    ledger.ingest(scrape(1_000, { gaps: [fan] }))
    ledger.expire(10_000)
    ledger.ingest(scrape(11_000, { gaps: [fan] }))
    expect(ledger.sources()[0]?.gapsByReason.get('not_supported')).toBe(2)
  })
})
