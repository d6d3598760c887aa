// Each way to write a length of time has its units and rounding; those of configuration files are read again as they were written.
import { describe, expect, test } from 'vitest'
import { durationText, parseDuration } from '../../../agent/text/duration.ts'
import { age, agoText, exactSpan, gpuTimeText, roughSpan, secondsText, spanAhead, spanText, tookText, twoUnitSpan } from '../../../agent/text/span.ts'
import { hoursText } from '../../../agent/text/waste.ts'

const S = 1_000
const MIN = 60 * S
const H = 60 * MIN

describe('for people', () => {
  test.each([
    ['two units', twoUnitSpan, [-1, 999, 61 * S, H, 25 * H + MIN + S], ['0 s', '1 s', '1 min 1 s', '1 h', '1 d 1 h']],
    ['an age in seconds', age, [-3, 5.9, 72, 300, 3_700, 200_000], ['0 s', '5 s', '1 min 12 s', '5 min 0 s', '1 h 1 min', '2 d 7 h']],
    ['to the second', exactSpan, [850, H + 2 * MIN + 3 * S, 2 * H], ['1 s', '1 h 2 min 3 s', '2 h']],
    ['in one unit', spanText, [1, S, 35 * S, 12 * MIN, 3 * H], ['1 s', '1 s', '35 s', '12 min', '3 h']],
    ['roughly', roughSpan, [1, 90 * S, 18 * MIN, 3.4 * H, 50 * H], ['1 s', '90 s', '18 min', '3.4 h', '2.1 days']],
    ['ahead, in seconds', spanAhead, [45, 1_200, 12_600, 50_000, 200_000], ['45 s', '20 min', '3.5 h', '14 h', '2 d']],
    ['ago, in seconds', agoText, [90, 2_100, 72_000, 260_000], ['90 s ago', '35 min ago', '20 h ago', '3 days ago']],
    ['seconds', secondsText, [2_540, 30_200], ['2.5 s', '30 s']],
    ['work', tookText, [0.2, 12, 1_400], ['< 1 ms', '12 ms', '1.4 s']],
    ['GPU time, in seconds', gpuTimeText, [1, 90, 2_700, 11_520], ['1 GPU second', '90 GPU seconds', '45 GPU minutes', '3.2 GPU hours']],
    ['GPU hours', hoursText, [0, 0.02, 3.44, 120.4], ['0.0', 'under 0.1', '3.4', '120']],
  ])('%s', (_, text, spans, expected) => expect(spans.map(text)).toEqual(expected))
})

describe('in configuration files', () => {
  test.each([
    ['90s', 90_000],
    ['1.5m', 90_000],
    [2, 2_000],
    ['0', 0],
    ['30d', 2_592_000_000],
    ['31d', undefined],
    ['-1s', undefined],
    ['1w', undefined],
    ['', undefined],
  ])('a time of %j', (text, ms) => expect(parseDuration(text)).toBe(ms))

  test.each(['0s', '200ms', '90s', '5m', '4h', '1d'])('%s is written as it was read', (text) => {
    expect(durationText(parseDuration(text) ?? Number.NaN)).toBe(text)
  })
})
