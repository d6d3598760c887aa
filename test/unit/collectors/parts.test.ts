// The pure parts of the collectors: peaks over a minute, rates of counters, conversion of units, borders of process entries.
import { array, assert, boolean, constantFrom, integer, property, tuple, uniqueArray } from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createPeaks } from '../../../agent/collectors/memory-peak.ts'
import { convert } from '../../../agent/collectors/parts/gauges.ts'
import { createRate } from '../../../agent/collectors/parts/rate.ts'
import { strideOf } from '../../../agent/nvml/process-query.ts'

describe('peaks', () => {
  test('the highest of the last minute, and not a second longer', () => {
    const peaks = createPeaks()
    expect(peaks.highest(0)).toBeUndefined()
    peaks.add(1_000, 10)
    peaks.add(1_900, 30)
    peaks.add(1_950, 20)
    peaks.add(30_000, 15)
    expect(peaks.highest(30_000)).toBe(30)
    expect(peaks.highest(60_999)).toBe(30)
    expect(peaks.highest(61_000)).toBe(15)
    expect(peaks.highest(90_000)).toBeUndefined()
  })

  test('agree with a list of all samples', () => {
    assert(
      property(array(tuple(integer({ min: 0, max: 9_000 }), integer({ min: 0, max: 100 })), { minLength: 1 }), (steps) => {
        const peaks = createPeaks()
        const samples: { readonly second: number; readonly value: number }[] = []
        let now = 0
        for (const [step, value] of steps) {
          now += step
          peaks.add(now, value)
          samples.push({ second: Math.floor(now / 1000), value })
          const recent = samples.filter((sample) => sample.second > Math.floor(now / 1000) - 60)
          expect(peaks.highest(now)).toBe(Math.max(...recent.map((sample) => sample.value)))
        }
      }),
    )
  })
})

describe('rates', () => {
  test('counts per second between two looks; nothing at the first look and when the counter went back', () => {
    const rate = createRate()
    expect(rate.next(100, 1_000)).toBeUndefined()
    expect(rate.next(600, 11_000)).toBe(50)
    expect(rate.next(10, 12_000)).toBeUndefined()
    expect(rate.next(10, 13_000)).toBe(0)
    rate.forget()
    expect(rate.next(1_000, 14_000)).toBeUndefined()
  })
})

test('every whole percentage becomes the ratio that a person would write', () => {
  for (let percent = 0; percent <= 200; percent++) expect(convert(percent, 0.01)).toBe(Number((percent / 100).toFixed(2)))
  expect(convert(39_595_000, 1e-9)).toBe(0.039595)
  expect(convert(1755, 1e6)).toBe(1_755_000_000)
})

describe('the stride of process entries', () => {
  const PATTERN = 0xaaaaaaaa
  const write = (count: number, stride: number, pids: readonly number[], protectedBytes: number): Uint32Array => {
    const words = new Uint32Array(64 * 8).fill(PATTERN)
    for (let i = 0; i < count; i++) {
      const entry = [pids[i] ?? 1, 0, 4096 * (i + 1), 0, 0xffffffff, 0xffffffff, protectedBytes, 0].slice(0, stride / 4)
      words.set(entry, (i * stride) / 4)
    }
    return words
  }

  const lists = uniqueArray(integer({ min: 1, max: 4_194_304 }), { minLength: 1, maxLength: 60 })

  test('24 bytes are found for any list, whatever the driver’s symbols look like', () => {
    assert(property(lists, boolean(), (pids, early) => strideOf(write(pids.length, 24, pids, 0), pids.length, early) === 24))
  })

  test('32 bytes are found for any list of a driver with the symbols of early R535', () => {
    assert(property(lists, constantFrom(0, 4096, 2_097_152), (pids, bytes) => strideOf(write(pids.length, 32, pids, bytes), pids.length, true) === 32))
  })

  test('32 bytes are found without that sign as soon as there are two entries', () => {
    assert(property(lists, (pids) => strideOf(write(pids.length, 32, pids, 0), pids.length, false) === (pids.length > 1 ? 32 : undefined)))
  })
})
