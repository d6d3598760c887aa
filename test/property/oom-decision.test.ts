// For random states in which a request failed: what the decision says would have helped is what the exact model says, and what counting the bytes says.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { decide, type Decision } from '../../agent/diagnosis/incidents/oom/decide.ts'
import type { OomState } from '../../agent/diagnosis/incidents/oom/state.ts'
import type { OomCause } from '../../agent/model/facts.ts'

const GIB = 2 ** 30
const MODEL = join(import.meta.dirname, '../../../shared/tools/allocator-sim')
const missing = !existsSync(MODEL) ? 'needs ../shared/tools/allocator-sim' : !existsSync('/usr/bin/python3') ? 'needs python3' : undefined

type Figures = {
  readonly requested: number
  readonly total: number
  readonly limit: number | null
  readonly free: number
  readonly allocated: number
  readonly reserved: number
  readonly others: number
  readonly outside: number
}
/** `outside`: beyond the GiB of context and libraries that is ordinary. */
const stateOf = ({ requested, total, limit, free, allocated, reserved, others, outside }: Figures): OomState => ({
  from: 'probe',
  requested,
  total,
  limit: limit ?? total,
  capped: limit !== null,
  free,
  allocated,
  reserved,
  stranded: reserved - allocated,
  pools: 0,
  processBytes: reserved + GIB + outside,
  outside: GIB + outside,
  neighbours: others === 0 ? [] : [{ pid: 1, bytes: others }],
  rounding: 0,
  driverFree: free,
})
const held = ({ holds }: Decision, wanted: OomCause): boolean => holds.some(({ cause }) => cause === wanted)

describe.skipIf(missing !== undefined)(`a failed request, against the exact model${missing === undefined ? '' : ` (${missing})`}`, () => {
  const flag = z.boolean()
  const size = z.number()
  const row = z.object({
    requested: size,
    rounded: size,
    total: size,
    free: size,
    allocated: size,
    reserved: size,
    others: size,
    outside: size,
    limit: size.nullable(),
    fits: flag,
    fits_without_others: flag,
    fits_without_outside: flag,
    fits_without_limit: flag,
    fits_without_stranded: flag,
  })
  const states = (seed: number): readonly z.infer<typeof row>[] =>
    execFileSync('/usr/bin/python3', [join(import.meta.dirname, 'oom-states.py'), MODEL, String(seed), '150'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
      .trim()
      .split('\n')
      .map((line) => row.parse(JSON.parse(line)))

  test.each([1, 2, 3])('what would have let it succeed is what would_fit says (seed %i)', (seed) => {
    const found = states(seed)
    expect(found.length).toBeGreaterThan(100)
    let [others, outside, caps, pieces] = [0, 0, 0, 0]
    for (const state of found) {
      expect(state.fits).toBe(false)
      const decision = decide(stateOf(state), undefined)
      const holds = {
        others: held(decision, 'other_process'),
        outside: held(decision, 'non_pytorch_memory'),
        pieces: held(decision, 'fragmentation'),
        cap: decision.causes.includes('fraction_cap'),
      }
      // The state is beside the answer, so that a difference shows where it comes from.
      expect({ state, ...holds }).toEqual({
        state,
        others: state.others > 0 && state.fits_without_others,
        outside: state.outside > 0 && state.fits_without_outside,
        pieces: state.reserved > state.allocated && state.fits_without_stranded,
        cap: state.limit !== null && state.fits_without_limit,
      })
      others += Number(state.fits_without_others)
      outside += Number(state.fits_without_outside)
      caps += Number(state.fits_without_limit)
      pieces += Number(state.fits_without_stranded)
    }
    expect(Math.min(others, outside, caps, pieces), 'each cause must really have come up').toBeGreaterThan(5)
  })
})

describe('a failed request, against counting the bytes', () => {
  const MIB = 2 ** 20
  const figures = fc
    .record({
      total: fc.integer({ min: 4, max: 80 }).map((n) => n * GIB),
      allocated: fc.double({ min: 0.01, max: 0.9, noNaN: true }),
      stranded: fc.double({ min: 0, max: 0.5, noNaN: true }),
      others: fc.option(fc.double({ min: 0.01, max: 0.6, noNaN: true }), { nil: 0 }),
      outside: fc.option(fc.double({ min: 0.01, max: 0.4, noNaN: true }), { nil: 0 }),
      limit: fc.option(fc.double({ min: 0.2, max: 0.95, noNaN: true })),
      request: fc.double({ min: 0.0005, max: 0.8, noNaN: true }),
    })
    .map(({ total, allocated, stranded, others, outside, limit, request }): Figures => {
      const part = (share: number): number => Math.floor((share * total) / MIB) * MIB
      const free = total - part(allocated) - part(stranded) - part(others) - part(outside) - GIB
      return {
        requested: Math.max(2 * MIB, part(request)),
        total,
        limit: limit === null ? null : part(limit),
        free,
        allocated: part(allocated),
        reserved: part(allocated) + part(stranded),
        others: part(others),
        outside: part(outside),
      }
    })
    // A state that can be, in which the request fails.
    .filter(
      ({ free, limit, reserved, requested }) =>
        free >= 0 && (limit === null || reserved <= limit) && (requested > free || (limit !== null && reserved + requested > limit)),
    )

  /** Whether the request fits when so much less is on the card, and so much less counts against the limit. */
  const fits = ({ requested, free, reserved, limit }: Figures, onCard: number, ofLimit: number, limited = true): boolean =>
    requested <= free + onCard && (!limited || limit === null || reserved - ofLimit + requested <= limit)

  test('what would have helped alone is what the sums say, and something always leads', () => {
    fc.assert(
      fc.property(figures, (given) => {
        const decision = decide(stateOf(given), undefined)
        const stranded = given.reserved - given.allocated
        expect(held(decision, 'other_process')).toBe(given.others > 0 && fits(given, given.others, 0))
        expect(held(decision, 'non_pytorch_memory')).toBe(given.outside > 0 && fits(given, given.outside, 0))
        expect(held(decision, 'fragmentation')).toBe(stranded > 0 && fits(given, stranded, stranded))
        expect(decision.causes.includes('fraction_cap')).toBe(given.limit !== null && fits(given, 0, 0, false))
        const { requested, total, limit } = given
        expect(decision.causes[0] === 'oversized_request').toBe(requested >= 0.9 * (limit ?? total) || requested > total - 1.5 * GIB)
        expect(new Set(decision.causes).size).toBe(decision.causes.length)
        // What leads and is no capacity would really have helped.
        const [first = 'none'] = decision.causes
        expect(['capacity', 'fraction_cap', 'oversized_request', ...decision.holds.map(({ cause }) => cause)]).toContain(first)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a load that grows as fast as this is not helped by what only hastened it; one that does not grow is', () => {
    const state = stateOf({ requested: GIB, total: 40 * GIB, limit: null, free: 0, allocated: 33 * GIB, reserved: 39 * GIB, others: 0, outside: 0 })
    const grown = (bytesPerHour: number) => ({
      minutes: 60,
      ageMs: 3_600_000,
      peakBytes: 33 * GIB,
      own: { bytes: bytesPerHour, perHour: bytesPerHour, overMs: 3_600_000 },
    })
    expect(decide(state, grown(20 * GIB)).causes).toEqual(['capacity', 'fragmentation'])
    expect(decide(state, grown(1 * GIB)).causes).toEqual(['fragmentation'])
    expect(decide(state, { minutes: 60, ageMs: 3_600_000, peakBytes: 33 * GIB }).causes).toEqual(['fragmentation'])
    // It has needed five GiB more before, and will again: the pieces would not have lasted.
    expect(decide(state, { ...grown(1 * GIB), peakBytes: 39 * GIB }).causes).toEqual(['capacity', 'fragmentation'])
  })

  test('a neighbour that grew leads before what stands still, and a small one is only mentioned', () => {
    const base = { requested: GIB, total: 40 * GIB, limit: null, free: 0, allocated: 20 * GIB, reserved: 22 * GIB, outside: 0 }
    const grew = { minutes: 60, ageMs: 3_600_000, peakBytes: 20 * GIB, others: { bytes: 3 * GIB, perHour: 3 * GIB, overMs: 3_600_000 } }
    expect(decide(stateOf({ ...base, others: 17 * GIB }), grew).causes[0]).toBe('other_process')
    expect(decide(stateOf({ ...base, others: 3 * GIB }), undefined).causes).toEqual(['capacity', 'fragmentation', 'other_process'])
  })
})
