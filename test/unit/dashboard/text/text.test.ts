// How figures and reasons read.
import { frame, GIB, gpu } from '../helpers.ts'
import { describe, expect, test } from 'vitest'
import { tokenProtocol } from '../../../../dashboard/src/parts/connection/api.ts'
import { parseLiveMessage, parseSeries } from '../../../../dashboard/src/parts/connection/messages.ts'
import { retryDelayMs } from '../../../../dashboard/src/parts/connection/stream.ts'
import { clock, memory, percent } from '../../../../dashboard/src/text/format.ts'
import { containerKey, gpuModels } from '../../../../dashboard/src/text/names.ts'
import { activeThrottles } from '../../../../dashboard/src/text/words.ts'

describe('figures', () => {
  test.each([
    [undefined, '–'],
    [0, '0 MiB'],
    [512, '1 KiB'],
    [563 * 2 ** 20, '563 MiB'],
    [GIB - 1, '1.0 GiB'],
    [79.65 * GIB, '79.7 GiB'],
    [1536 * GIB, '1536 GiB'],
  ])('memory %s reads %s', (bytes, text) => expect(memory(bytes)).toBe(text))

  test('others', () => {
    expect([percent(0.936), percent(undefined)]).toEqual(['94 %', '–'])
    expect([clock(1.98e9), clock(345e6), clock(undefined)]).toEqual(['1980 MHz', '345 MHz', '–'])
  })
})

describe('words', () => {
  test('idling is no throttling, heat comes before the power limit, the umbrella reason gives way to the precise one', () => {
    const active = { gpu_idle: 1, sw_power_cap: 1, hw_slowdown: 1, hw_thermal_slowdown: 1, sync_boost: 0, brand_new: 1 }
    expect(activeThrottles(active).map((throttle) => [throttle.text, throttle.harmful])).toEqual([
      ['brand new', true],
      ['thermally throttled (hardware)', true],
      ['at its power limit', false],
    ])
  })

  test('names', () => {
    expect(gpuModels(['NVIDIA H100 80GB HBM3', 'NVIDIA H100 80GB HBM3', 'NVIDIA L4'])).toBe('2 × H100 80GB HBM3, L4')
    expect(containerKey({ container: 'a', pod: '' })).toBe('a')
  })
})

describe('borders', () => {
  test('what is no message of this version is passed over, what is no JSON object is an error', () => {
    expect(parseLiveMessage(JSON.stringify(frame(1, [gpu(0)])))?.type).toBe('frame')
    expect(parseLiveMessage('{"type":"incident","incident":{}}')).toBeUndefined()
    expect(parseLiveMessage('{"type":"frame","t":"soon","gpus":[]}')).toBeUndefined()
    expect(() => parseLiveMessage('[1]')).toThrow(/must be a JSON object, not \[1\]/)
  })

  test('a history answer that is none is refused', () => {
    expect(parseSeries([{ metric: 'm', labels: {}, step_ms: 1, t: [], mean: [] }])).toHaveLength(1)
    expect(() => parseSeries([{ labels: {} }])).toThrow(/must be a list of series, not/)
    expect(() => parseSeries({ error: 'x' })).toThrow(/must be a list of series, not/)
  })

  test('a token of any characters becomes a legal subprotocol that decodes to it', () => {
    const token = 'a b(c)%ü,"=/'
    const protocol = tokenProtocol(token)
    expect(protocol).toMatch(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
    expect(decodeURIComponent(protocol.slice('warpwatch.token.'.length))).toBe(token)
  })

  test('attempts to connect grow to 15 s and never come faster than their least', () => {
    expect([0, 1, 2, 5, 40].map((attempt) => retryDelayMs(attempt, () => 1))).toEqual([500, 1000, 2000, 15_000, 15_000])
    expect(retryDelayMs(0, () => 0)).toBe(375)
  })
})
