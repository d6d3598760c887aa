// What history encodes comes back bit for bit, whatever the numbers; what is torn is never taken for a number.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createReader, createWriter } from '../../agent/store/history/bits.ts'
import { createRawScratch, decodeRaw, encodeRaw, packBlock, unpackBlock } from '../../agent/store/history/block.ts'
import { decodeColumn, encodeColumn } from '../../agent/store/history/column.ts'
import { createJournalReader, createJournalWriter, decodeMarker, encodeMarker } from '../../agent/store/history/journal.ts'
import { quantize } from '../../agent/store/history/quantize.ts'
import { createRollup, decodeRollup, encodeRollup, mergeRollups, rollSeconds } from '../../agent/store/history/rollup.ts'

const anyDouble = fc.double({ noNaN: true, noDefaultInfinity: true })
/** Numbers as metrics have them, so that every way of encoding is taken, and any double at all. */
const likely = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 360 }),
  fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 360 }),
  fc.array(fc.integer({ min: 0, max: 90_000 }), { minLength: 1, maxLength: 360 }).map((list) => list.map((value) => value / 1000)),
  fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 360 }).map((list) => list.map((value) => value * 2_097_152)),
  fc.array(fc.nat(5_000_000), { minLength: 1, maxLength: 360 }).map((list) => {
    let sum = 1e12
    return list.map((value) => (sum += value))
  }),
  fc.tuple(anyDouble, fc.integer({ min: 1, max: 360 })).map(([value, length]) => Array.from({ length }, () => value)),
  fc.array(
    fc.tuple(fc.integer(), fc.nat(9)).map(([digits, exponent]) => digits / 10 ** exponent),
    { minLength: 1, maxLength: 60 },
  ),
  fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 100 }),
  fc.array(anyDouble, { minLength: 1, maxLength: 100 }),
  fc.array(fc.oneof({ weight: 20, arbitrary: fc.constant(5) }, fc.integer(), anyDouble), { minLength: 1, maxLength: 360 }),
)
const same = (a: Float64Array, b: Float64Array): boolean => a.length === b.length && a.every((value, i) => Object.is(value, b[i]))

describe('numbers', () => {
  test('any mix of bytes, varints, bits and Rice codes is read as it was written', () => {
    const item = fc.oneof(
      fc.record({ kind: fc.constant('varint' as const), value: fc.maxSafeNat() }),
      fc.record({ kind: fc.constant('signed' as const), value: fc.integer({ min: -(2 ** 51), max: 2 ** 51 }) }),
      fc.record({ kind: fc.constant('float64' as const), value: anyDouble }),
      fc.record({ kind: fc.constant('rice' as const), value: fc.oneof(fc.nat(300), fc.maxSafeNat()), k: fc.nat(46) }),
      fc
        .nat(53)
        .chain((width) =>
          fc.record({ kind: fc.constant('bits' as const), width: fc.constant(width), value: fc.bigInt(0n, 2n ** BigInt(width) - 1n).map(Number) }),
        ),
    )
    fc.assert(
      fc.property(fc.array(item, { maxLength: 100 }), (items) => {
        const out = createWriter(1)
        for (const one of items) {
          if (one.kind === 'rice') out.rice(one.value, one.k)
          else if (one.kind === 'bits') out.bits(one.value, one.width)
          else {
            out.align()
            out[one.kind](one.value)
          }
        }
        out.align()
        const from = createReader(out.take())
        for (const one of items) {
          const packed = one.kind === 'rice' || one.kind === 'bits'
          if (!packed) from.align()
          const found = one.kind === 'rice' ? from.rice(one.k) : one.kind === 'bits' ? from.bits(one.width) : from[one.kind]()
          expect(found).toBe(one.value)
        }
      }),
    )
  })

  test('a column of any finite doubles comes back bit for bit', () => {
    fc.assert(
      fc.property(likely, (list) => {
        const values = Float64Array.from(list)
        const out = createWriter()
        encodeColumn(out, values, values.length)
        const back = new Float64Array(values.length)
        const bytes = out.take()
        const from = createReader(bytes)
        decodeColumn(from, back, back.length)
        expect(from.position()).toBe(bytes.length)
        expect(same(values, back)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('what is kept of a number is near it, stays so, and never a negative zero', () => {
    fc.assert(
      fc.property(fc.oneof(anyDouble, fc.double({ min: -1e6, max: 1e6, noNaN: true })), (value) => {
        const kept = quantize(value)
        expect(Math.abs(kept - value)).toBeLessThanOrEqual(Math.max(5.01e-7, Math.abs(value) * 1e-12))
        expect(Object.is(quantize(kept), kept)).toBe(true)
        expect(Object.is(kept, -0)).toBe(false)
      }),
    )
  })
})

/** Values with holes in any pattern. */
const seconds = fc
  .tuple(likely, fc.oneof(fc.constant(1), fc.constant(10), fc.integer({ min: 1, max: 40 })), fc.array(fc.nat(359), { maxLength: 20 }), fc.nat(60))
  .map(([list, stride, holes, first]) => {
    const values = new Float64Array(360).fill(Number.NaN)
    for (let i = first, n = 0; i < values.length; i += stride) values[i] = list[n++ % list.length] ?? 0
    for (const hole of holes) values[hole] = Number.NaN
    return values
  })

describe('blocks', () => {
  test('seconds and holes come back as they were', () => {
    const scratch = createRawScratch()
    fc.assert(
      fc.property(seconds, (values) => {
        const encoded = encodeRaw(values, values.length)
        const back = new Float64Array(values.length).fill(Number.NaN)
        const count = encoded === undefined ? 0 : decodeRaw(encoded.bytes, scratch)
        expect(count).toBe(encoded?.samples ?? 0)
        for (let i = 0; i < count; i++) back[scratch.at[i] ?? -1] = scratch.value[i] ?? 0
        expect(same(values, back)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('a block gives its segments back by id; cut short or changed, it throws a RangeError or gives bytes of its own', () => {
    const segments = fc.uniqueArray(fc.record({ id: fc.nat(1_000_000), bytes: fc.uint8Array({ maxLength: 40 }) }), { selector: ({ id }) => id, maxLength: 40 })
    fc.assert(
      fc.property(segments, fc.nat(), fc.nat(255), (list, place, byte) => {
        const block = packBlock(list)
        expect(unpackBlock(block).map(({ id, bytes }) => ({ id, bytes: [...bytes] }))).toEqual(
          [...list].sort((a, b) => a.id - b.id).map(({ id, bytes }) => ({ id, bytes: [...bytes] })),
        )
        const broken = block.slice(0, (place % block.length) + 1)
        broken[place % broken.length] = byte
        let total = 0
        try {
          total = unpackBlock(broken).reduce((sum, { bytes }) => sum + bytes.length, 0)
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
        }
        expect(total).toBeLessThanOrEqual(broken.length)
      }),
    )
  })
})

type Step = { readonly min: number; readonly max: number; readonly sum: number; readonly count: number }
function naive(values: Float64Array, start: number, origin: number, step: number): Map<number, Step> {
  const steps = new Map<number, Step>()
  values.forEach((value, i) => {
    if (Number.isNaN(value)) return
    const at = Math.floor((start + i - origin) / step)
    const old = steps.get(at) ?? { min: value, max: value, sum: 0, count: 0 }
    steps.set(at, { min: Math.min(old.min, value), max: Math.max(old.max, value), sum: old.sum + value, count: old.count + 1 })
  })
  return steps
}

describe('rollups', () => {
  test('least and greatest come back exactly, the mean within a part of their distance, also after a merge', () => {
    const [first, second, merged, back] = [createRollup(), createRollup(), createRollup(), createRollup()]
    fc.assert(
      fc.property(seconds, fc.nat(600), fc.integer({ min: 1, max: 359 }), (values, offset, cut) => {
        // Rolled up in two parts, as two blocks of the same minutes are.
        rollSeconds(first, values.subarray(0, cut), offset, cut, 0, 60)
        rollSeconds(second, values.subarray(cut), offset + cut, values.length - cut, 0, 60)
        mergeRollups(merged, first, second)
        decodeRollup(encodeRollup(merged), back)
        const expected = [...naive(values, offset, 0, 60)]
        expect(back.length).toBe(expected.length)
        expected.forEach(([at, { min, max, sum, count }], i) => {
          expect(back.at[i]).toBe(at)
          expect(back.count[i]).toBe(count)
          expect(back.min[i] === min).toBe(true)
          expect(back.max[i] === max).toBe(true)
          const mean = back.mean[i] ?? Number.NaN
          expect(mean).toBeGreaterThanOrEqual(min)
          expect(mean).toBeLessThanOrEqual(max)
          // Where the sum is beyond a double, only the place between least and greatest is promised.
          const exact = Number.isFinite(sum) && Number.isFinite(max - min)
          const off = exact ? Math.abs(mean - sum / count) : 0
          expect(off).toBeLessThanOrEqual(exact ? (max - min) / 60_000 + 1e-12 * Math.max(Math.abs(min), Math.abs(max)) + 1e-300 : 0)
        })
      }),
      { numRuns: 500 },
    )
  })
})

type Sample = readonly [id: number, second: number, value: number]
/** Some records; in each, series at some seconds. */
const journal = fc.array(
  fc.array(
    fc.tuple(
      fc.nat(30),
      fc.oneof(fc.nat(3), fc.nat(4_000_000)),
      fc.oneof(
        fc.constant(5),
        fc.integer(),
        fc.nat(9000).map((n) => n / 1000),
        anyDouble,
      ),
    ),
    { minLength: 1, maxLength: 40 },
  ),
  { minLength: 1, maxLength: 80 },
)

describe('journal', () => {
  const write = (records: readonly (readonly Sample[])[]): readonly { readonly bytes: Uint8Array; readonly keyframe: boolean }[] => {
    const writer = createJournalWriter<number>()
    return records.map((samples) => {
      for (const [id, second, value] of samples) writer.add(id, second, value)
      return writer.take((id) => id + 7)
    })
  }
  /** What a record must say: the samples in order of their seconds as they changed, the last of each series in each stretch of one second. */
  const expected = (samples: readonly Sample[]): readonly Sample[] => {
    const sections: { second: number; values: Map<number, number> }[] = []
    for (const [id, second, value] of samples) {
      if (sections.at(-1)?.second !== second) sections.push({ second, values: new Map() })
      sections.at(-1)?.values.set(id, value)
    }
    return sections.flatMap(({ second, values }) => [...values].map(([id, value]) => [id + 7, second, value] as const))
  }
  const sorted = (samples: readonly Sample[]): readonly string[] =>
    samples.map(([id, second, value]) => `${second} ${id} ${Object.is(value, -0) ? '-0' : value}`).sort()

  test('every sample comes back, over keyframes and changes of the set of series', () => {
    fc.assert(
      fc.property(journal, (records) => {
        const reader = createJournalReader()
        write(records).forEach(({ bytes, keyframe }, i) => {
          expect(keyframe).toBe(i % 60 === 0)
          const found: Sample[] = []
          expect(reader.read(bytes, (...sample) => found.push(sample))).toBe(true)
          expect(sorted(found)).toEqual(sorted(expected(records[i] ?? [])))
        })
      }),
    )
  })

  test('torn at any byte, a record and those that hang on it are left out, the next keyframe mends it', () => {
    fc.assert(
      fc.property(journal, fc.nat(), fc.nat(), fc.boolean(), (records, which, place, cut) => {
        const written = write(records)
        const torn = which % written.length
        const reader = createJournalReader()
        written.forEach(({ bytes }, i) => {
          const found: Sample[] = []
          const changed = bytes.slice(0, cut && i === torn ? place % bytes.length : bytes.length)
          if (!cut && i === torn) changed[place % bytes.length] = (changed[place % bytes.length] ?? 0) ^ 0x10
          const whole = reader.read(changed, (...sample) => found.push(sample))
          const lost = i >= torn && Math.floor(i / 60) === Math.floor(torn / 60)
          expect(whole).toBe(!lost)
          expect(sorted(found)).toEqual(lost ? [] : sorted(expected(records[i] ?? [])))
        })
      }),
    )
  })

  test('a marker comes back', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000_000)), fc.maxSafeNat(), fc.maxSafeNat(), (ids, before, until) => {
        expect(decodeMarker(encodeMarker({ ids, before, until }))).toEqual({ ids, before, until })
      }),
    )
  })
})
