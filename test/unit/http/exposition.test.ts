// The /metrics page against an independent parser: what the store holds is on the page, once, and nothing else.
import { gunzipSync } from 'node:zlib'
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createExposition, type ExpositionOptions } from '../../../agent/http/exposition.ts'
import { metricsFormat } from '../../../agent/http/accept.ts'
import { scaled } from '../../../agent/http/exposition/dcgm.ts'
import { defineMetric } from '../../../agent/model/metric.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { createLatestStore, type LatestStore } from '../../../agent/store/latest.ts'
import { fillStore, GPU0, gpuInfo, memoryUsed, scrape, T, xidTotal } from './fixture.ts'
import { parseExposition } from './parse-exposition.ts'

const expositionOf = (latest: LatestStore, options: Partial<ExpositionOptions> = {}) =>
  createExposition({ latest, dcgm: 'off', hostnameLabel: 'Hostname', hostname: 'h', ...options })

describe('the page', () => {
  test('says what the store holds, whatever the label values and numbers', () => {
    const text = fc.string({ unit: 'binary', maxLength: 12 })
    const gauge = defineMetric({ name: 'warpwatch_host_a_ratio', subject: 'host', field: 'a_ratio', kind: 'gauge', unit: '1', help: 'a', labels: ['x', 'y'] })
    const counter = defineMetric({
      name: 'warpwatch_host_b_total',
      subject: 'host',
      field: 'b_total',
      kind: 'counter',
      unit: '1',
      help: 'b "quoted" \\ and\nmore',
      labels: ['x', 'y'],
    })
    const entry = fc.record({ metric: fc.constantFrom(gauge, counter), x: text, y: text, value: fc.double({ noNaN: true, noDefaultInfinity: true }) })
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), fc.constantFrom('text', 'openmetrics'), (entries, format) => {
        const store = createLatestStore()
        const readings = entries.map(({ metric, x, y, value }) => ({ series: makeSeries(metric, { x, y }), value }))
        store.apply(scrape('s', 'g', T, readings))
        const page = expositionOf(store).page(format).body.toString()
        // Lone surrogates have no form in UTF-8; they arrive as U+FFFD on both sides.
        const utf8 = (value: string): string => Buffer.from(value).toString()
        const wanted = new Map<string, number>()
        const id = (name: string, labels: Readonly<Record<string, string>>): string =>
          JSON.stringify([name, ...['x', 'y'].map((label) => utf8(labels[label] ?? ''))])
        for (const { series, value } of readings) wanted.set(id(series.metric.name, series.labels), value === 0 ? 0 : value)
        const parsed = page === '' ? [] : [...parseExposition(page, format).values()]
        const found = new Map(parsed.flatMap(({ samples }) => samples.map((sample) => [id(sample.name, sample.labels), sample.value] as const)))
        expect(found).toEqual(wanted)
        for (const { name, help } of parsed) expect(help).toBe(name.includes('_b') ? counter.help : gauge.help)
      }),
      { numRuns: 300 },
    )
  })

  test('is rendered once per tick, however many read it', async () => {
    const store = createLatestStore()
    fillStore(store)
    const exposition = expositionOf(store)
    const first = exposition.page('text')
    expect(exposition.page('text').body).toBe(first.body)
    exposition.page('openmetrics')
    expect(exposition.renderings()).toBe(1)
    expect(await first.gzipped()).toBe(await first.gzipped())
    expect(gunzipSync(await first.gzipped())).toEqual(first.body)
    exposition.invalidate()
    expect(exposition.page('text').body.equals(first.body)).toBe(true)
    expect(exposition.renderings()).toBe(2)
  })

  test('stays whole while it is being sent, and lends its bytes to the next one else', () => {
    const store = createLatestStore()
    fillStore(store)
    const exposition = expositionOf(store)
    const next = (cpuSeconds: number): Buffer => {
      fillStore(store, T + cpuSeconds, cpuSeconds)
      exposition.invalidate()
      return exposition.page('text').body
    }
    const first = exposition.page('text')
    const before = first.body.toString()
    const letGo = [first.hold(), first.hold()]
    const second = next(200)
    expect(second.buffer).not.toBe(first.body.buffer)
    letGo.forEach((release) => (release(), release())) // letting go twice counts once
    expect(next(300).buffer).toBe(second.buffer)
    expect(first.body.toString()).toBe(before)
    expect(exposition.page('text').body.toString()).toContain('cpu_seconds_total{container="trainer"')
    expect(exposition.page('text').body.toString()).toMatch(/cpu_seconds_total\{.*\} 300\n/)
  })

  test('follows the store: new values, series that leave, families that end and come back', () => {
    const store = createLatestStore()
    const exposition = expositionOf(store)
    const series = ['a', 'b', 'c'].map((uuid) => makeSeries(memoryUsed, { gpu: '0', uuid }))
    const lines = (values: readonly (number | undefined)[], t: number): readonly string[] => {
      store.apply(
        scrape(
          'gpu',
          'g',
          t,
          values.flatMap((value, i) => (value === undefined || series[i] === undefined ? [] : [{ series: series[i], value }])),
        ),
      )
      exposition.invalidate()
      const page = exposition.page('text').body.toString()
      return page
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.replace(/^.*uuid="(.)"\} /, '$1='))
    }
    expect(lines([1, 2, 3], T)).toEqual(['a=1', 'b=2', 'c=3'])
    expect(lines([1, undefined, 4], T + 1)).toEqual(['a=1', 'c=4'])
    expect(lines([], T + 2)).toEqual([])
    expect(exposition.page('text').body.toString()).toBe('')
    expect(lines([undefined, 2, 4], T + 3)).toEqual(['b=2', 'c=4'])
  })

  test('shows a series that two sources tell once, with the newer value', () => {
    const store = createLatestStore()
    const values = (): number[] => {
      const exposition = expositionOf(store)
      return [...parseExposition(exposition.page('text').body.toString(), 'text').values()].flatMap(({ samples }) => samples.map(({ value }) => value))
    }
    store.apply(scrape('new', '', T + 5, [{ series: makeSeries(memoryUsed, GPU0), value: 1 }]))
    store.apply(scrape('old', '', T, [{ series: makeSeries(memoryUsed, GPU0), value: 2 }]))
    expect(values()).toEqual([1])
    store.apply(scrape('third', '', T + 5, [{ series: makeSeries(memoryUsed, GPU0), value: 3 }]))
    expect(values()).toEqual([3])
  })

  test('shows a series once though it was forgotten, came back elsewhere, and then where it was', () => {
    const store = createLatestStore()
    const exposition = expositionOf(store)
    const back = makeSeries(memoryUsed, GPU0)
    const tell = (group: string, t: number, readings: readonly Reading[]): string => {
      store.apply(scrape('gpu', group, t, readings))
      store.expire(t)
      exposition.invalidate()
      return exposition.page('text').body.toString()
    }
    tell('a', T, [{ series: back, value: 1 }])
    for (let round = 1; round < 20; round += 1) {
      const others = Array.from({ length: 100 }, (_, i) => ({ series: makeSeries(memoryUsed, { gpu: '0', uuid: `GPU-${round}-${i}` }), value: i }))
      tell('others', T + round * 10_000, others)
    }
    tell('b', T + 300_000, [{ series: back, value: 2 }])
    const page = tell('a', T + 300_001, [{ series: back, value: 3 }])
    expect([...parseExposition(page, 'text').values()].flatMap(({ samples }) => samples.map(({ value }) => value))).toEqual([3])
  })

  test('forgets series that are gone, so that churn costs no memory', () => {
    const store = createLatestStore()
    const exposition = expositionOf(store, { dcgm: 'both' })
    const render = (round: number): number => {
      store.apply(
        scrape(
          'gpu',
          'g',
          T + round,
          Array.from({ length: 50 }, (_, i) => ({ series: makeSeries(memoryUsed, { gpu: '0', uuid: `GPU-${round}-${i}` }), value: i })),
        ),
      )
      exposition.invalidate()
      return exposition.page('text').body.length
    }
    const first = render(100)
    for (let round = 101; round < 200; round += 1) expect(render(round)).toBe(first)
  })
})

describe('names of dcgm-exporter', () => {
  const page = (store: LatestStore, options: Partial<ExpositionOptions>): string => expositionOf(store, options).page('text').body.toString()

  test('follow the switch', () => {
    const store = createLatestStore()
    fillStore(store)
    expect(page(store, { dcgm: 'off' })).not.toContain('DCGM_')
    expect(page(store, { dcgm: 'classic' })).toContain('DCGM_FI_DEV_FB_USED{')
    expect(page(store, { dcgm: 'classic' })).not.toContain('DCGM_FI_DEV_FB_USED_BYTES{')
    expect(page(store, { dcgm: '4.9' })).not.toContain('DCGM_FI_DEV_FB_USED{')
    expect(page(store, { dcgm: '4.9' })).toMatch(/DCGM_FI_DEV_FB_USED_BYTES\{.*DCGM_FI_SYSTEM_DRIVER_VERSION="580.95.05"\} 12345678901/)
    expect(page(store, { dcgm: 'classic', hostnameLabel: 'hostname' })).toContain(',hostname="h",')
    expect(page(store, { dcgm: 'classic', hostnameLabel: 'hostname' })).not.toContain('Hostname=')
  })

  test('take up model, bus and driver as soon as they are known', () => {
    const store = createLatestStore()
    const exposition = expositionOf(store, { dcgm: 'classic' })
    store.apply(scrape('gpu', 'fast', T, [{ series: makeSeries(memoryUsed, GPU0), value: 1 }]))
    expect(exposition.page('text').body.toString()).not.toContain('modelName')
    store.apply(scrape('gpu', 'rare', T, [{ series: makeSeries(gpuInfo, { ...GPU0, name: 'NVIDIA T4', driver_version: '1.2' }), value: 1 }]))
    exposition.invalidate()
    expect(exposition.page('text').body.toString()).toMatch(/DCGM_FI_DEV_FB_USED\{.*modelName="NVIDIA T4",Hostname="h",DCGM_FI_DRIVER_VERSION="1.2"\} 0\n/)
  })

  test('say no Xid only where Xids can be seen', () => {
    const store = createLatestStore()
    const info = { series: makeSeries(gpuInfo, { ...GPU0, name: 'x' }), value: 1 }
    store.apply(scrape('gpu', 'g', T, [info]))
    expect(page(store, { dcgm: 'classic' })).toMatch(/DCGM_FI_DEV_XID_ERRORS\{.*err_code="0",err_msg="No Error"\} 0\n/)
    store.apply(scrape('gpu', 'g', T, [info], [{ metric: xidTotal.name, labels: GPU0, reason: 'not_supported' }]))
    expect(page(store, { dcgm: 'classic' })).not.toContain('XID_ERRORS')
  })

  test.each([
    [1.98e9, 1e-6, 1980],
    [0.57, 100, 57],
    [0.29, 100, 29],
    [123_456.789, 1_000, 123_456_789],
    [12_345_678_901, 1 / 1_048_576, 11_773],
    [312.456, 1, 312.456],
  ])('%d times %d is %d', (value, scale, wanted) => expect(scaled(value, scale)).toBe(wanted))
})

describe('the format', () => {
  test.each([
    [undefined, 'text'],
    ['*/*', 'text'],
    ['text/plain', 'text'],
    ['application/openmetrics-text', 'openmetrics'],
    // What Prometheus 2.42 sends.
    ['application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1', 'openmetrics'],
    ['text/plain, application/openmetrics-text;q=0.5', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
  ] as const)('for Accept: %s is %s', (accept, wanted) => expect(metricsFormat(accept)).toBe(wanted))
})
