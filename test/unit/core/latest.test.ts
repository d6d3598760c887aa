// The present: what is renewed, what is gone, and what a clock that jumps may not do.
import { describe, expect, test } from 'vitest'
import type { Scrape } from '../../../agent/model/event.ts'
import { defineMetric } from '../../../agent/model/metric.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'

const used = defineMetric({ name: 'warpwatch_test_bytes', subject: 'agent', kind: 'gauge', unit: 'By', help: 'A gauge of this test.', labels: ['id'] })
const scrape = (t: number, values: Readonly<Record<string, number>>, more: Partial<Scrape> = {}): Scrape => ({
  type: 'scrape',
  t,
  source: 'test',
  group: '',
  ttlMs: 3_000,
  durationMs: 1,
  readings: Object.entries(values).map(([id, value]) => ({ series: makeSeries(used, { id }), value })),
  gaps: [],
  ...more,
})
const present = (store: ReturnType<typeof createLatestStore>): Record<string, number> =>
  Object.fromEntries(store.of(used.name).map(({ series, value }) => [series.labels['id'], value]))

describe('latest values', () => {
  test('a scrape replaces what its source and group said, and nothing else', () => {
    const store = createLatestStore()
    store.apply(scrape(1_000, { a: 1, b: 2 }))
    store.apply(scrape(1_000, { c: 3 }, { group: 'other' }))
    store.apply(scrape(2_000, { a: 4 }))
    expect(present(store)).toEqual({ a: 4, c: 3 })
  })

  test('what is not renewed is gone when its time to live has passed', () => {
    const store = createLatestStore()
    store.apply(scrape(1_000, { a: 1 }))
    store.expire(4_000)
    expect(present(store)).toEqual({ a: 1 })
    store.expire(4_001)
    expect(present(store)).toEqual({})
  })

  test('a late answer does not undo a newer one', () => {
    const store = createLatestStore()
    store.apply(scrape(2_000, { a: 2 }))
    store.apply(scrape(1_000, { a: 1 }))
    expect(present(store)).toEqual({ a: 2 })
  })

  test('after the clock was set back by an hour the present goes on, and nothing from the future stays', () => {
    const store = createLatestStore()
    store.apply(scrape(3_600_000, { a: 1 }))
    store.apply(scrape(3_600_000, { gone: 1 }, { group: 'vanished' }))
    store.apply(scrape(1_000, { a: 2 }))
    store.expire(1_250)
    expect(present(store)).toEqual({ a: 2 })
  })

  test('a gap stands with its source and time', () => {
    const store = createLatestStore()
    store.apply(scrape(1_000, {}, { gaps: [{ metric: used.name, labels: { id: 'a' }, reason: 'timeout' }] }))
    expect(store.gaps()).toEqual([{ metric: used.name, labels: { id: 'a' }, reason: 'timeout', source: 'test', t: 1_000 }])
  })
})
