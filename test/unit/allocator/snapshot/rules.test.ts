// The allocator's rules, on the figures of the reference (pytorch-allocator.md, section 3) and of PyTorch's comments.
import { describe, expect, test } from 'vitest'
import { kindFor, mayTake, roundRequest, rulesOf, segmentBytes, splits, wholePages } from '../../../../agent/allocator/snapshot/rules.ts'
import { GIB, MIB } from './scene.ts'

const defaults = rulesOf(undefined, false)
const divided = (divisions: number) => rulesOf({ roundupDivisions: Array.from({ length: 16 }, () => divisions) }, false)

describe('rounding', () => {
  test.each([
    [1, 512],
    [512, 512],
    [513, 1024],
    [MIB - 1, MIB],
    [3 * GIB + 1, 3 * GIB + 512],
  ])('%i bytes take %i', (bytes, rounded) => {
    expect(roundRequest(bytes, defaults)).toBe(rounded)
  })
  // The comment of roundup_power2_next_division: 1200 with 4 divisions is 1280, in units above 512 * divisions.
  test.each([
    [4, 1200 * 1024, 1280 * 1024],
    [4, 1025 * 1024, 1280 * 1024],
    [4, 2 ** 30, 2 ** 30],
    [8, 9 * GIB, 9 * GIB],
    [8, 9 * GIB + 1, 10 * GIB],
    [2, 1000, 1024],
    [1, 1200 * 1024 + 1, 1200 * 1024 + 512],
  ])('with %i divisions, %i bytes take %i', (divisions, bytes, rounded) => {
    expect(roundRequest(bytes, divided(divisions))).toBe(rounded)
  })
  test('divisions are by the power of two that the size lies in', () => {
    // 4 from 64 MiB to 128 MiB only (key 64), none elsewhere.
    const rules = rulesOf({ roundupDivisions: Array.from({ length: 16 }, (_, power) => (power === 6 ? 4 : 0)) }, false)
    expect(roundRequest(65 * MIB, rules)).toBe(80 * MIB)
    expect(roundRequest(33 * MIB, rules)).toBe(33 * MIB)
    expect(roundRequest(129 * MIB, rules)).toBe(129 * MIB)
    // Beyond 64 GiB the last interval holds.
    expect(roundRequest(100 * GIB, divided(2))).toBe(128 * GIB)
  })
})

test('segments', () => {
  expect([1, MIB, MIB + 512, 10 * MIB - 512, 10 * MIB, 10 * MIB + 512, GIB].map((rounded) => segmentBytes(rounded, defaults) / MIB)).toEqual([
    2, 2, 20, 20, 10, 12, 1024,
  ])
  expect([kindFor(MIB), kindFor(MIB + 512)]).toEqual(['small', 'large'])
  const larger = rulesOf({ text: 'expandable_segments:True,large_segment_size_mb:64, max_non_split_rounding_mb:200' }, true)
  expect(segmentBytes(2 * MIB, larger)).toBe(64 * MIB)
  expect([larger.maxNonSplitRoundingBytes, larger.expandable]).toEqual([200 * MIB, true])
})

test('max_split_size: small requests leave large blocks alone, large ones take what fits closely', () => {
  const rules = rulesOf({ maxSplitBytes: 100 * MIB }, false)
  expect(mayTake(99 * MIB, 50 * MIB, rules)).toBe(true)
  expect(mayTake(100 * MIB, 50 * MIB, rules)).toBe(false)
  expect(mayTake(119 * MIB, 100 * MIB, rules)).toBe(true)
  expect(mayTake(120 * MIB, 100 * MIB, rules)).toBe(false)
  expect(mayTake(49 * MIB, 50 * MIB, rules)).toBe(false)
  expect(mayTake(GIB, 50 * MIB, defaults)).toBe(true)
})

test('splitting: from 512 bytes in the small pool and in expandable segments, above 1 MiB elsewhere', () => {
  expect([splits(1024, 512, 'small', defaults), splits(512, 512, 'small', defaults)]).toEqual([true, false])
  expect([splits(3 * MIB, 2 * MIB, 'large', defaults), splits(3 * MIB + 512, 2 * MIB, 'large', defaults)]).toEqual([false, true])
  expect(splits(3 * MIB, 2 * MIB, 'large', rulesOf(undefined, true))).toBe(true)
  expect(splits(GIB, 200 * MIB, 'large', rulesOf({ maxSplitBytes: 100 * MIB }, false))).toBe(false)
})

test('whole pages of a hole', () => {
  expect(wholePages(0, 40, 20)).toBe(40)
  expect(wholePages(5, 40, 20)).toBe(20)
  expect(wholePages(5, 30, 20)).toBe(0)
  expect(wholePages(19, 22, 20)).toBe(20)
})
