// For random allocator histories the measures are what the exact model says; the model is that of the shared folder beside this repository.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createReservedThen, createStranded, headroom, unreleasable, type AllocatorState } from '../../agent/allocator/measures.ts'

const MODEL = join(import.meta.dirname, '../../../shared/tools/allocator-sim')
const missing = !existsSync(MODEL) ? 'needs ../shared/tools/allocator-sim' : !existsSync('/usr/bin/python3') ? 'needs python3' : undefined

const count = z.number()
const step = z.object({
  stats: z.object({
    allocated_bytes: count,
    reserved_bytes: count,
    active_bytes: count,
    inactive_split_bytes: count,
    requested_bytes: count,
    num_alloc_retries: count,
    num_ooms: count,
  }),
  expandable: z.boolean(),
  limit_bytes: count.nullable(),
  capacity: count,
  free_bytes: count,
  obtainable: count,
  unreleasable: count,
  stranded: count,
  failed: z.boolean(),
  stranded_at_flush: count.nullable(),
})
type Step = z.infer<typeof step>
const history = (seed: number): readonly Step[] =>
  execFileSync('/usr/bin/python3', [join(import.meta.dirname, 'allocator-states.py'), MODEL, String(seed), '1500'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .trim()
    .split('\n')
    .map((line) => step.parse(JSON.parse(line)))
const stateOf = ({ stats, expandable, limit_bytes }: Step): AllocatorState => ({ backend: 'native', expandable, limit_bytes, stats })

const SEEDS = Array.from({ length: 24 }, (_, seed) => seed)
const histories = missing === undefined ? SEEDS.map((seed) => ({ seed, steps: history(seed) })) : []

describe.skipIf(missing !== undefined)(`against the exact model${missing === undefined ? '' : `; ${missing}`}`, () => {
  test('there are native and expandable histories, with limits and with failures', () => {
    const native = histories.filter(({ steps }) => steps[0]?.expandable === false)
    expect(native.length).toBeGreaterThan(5)
    expect(histories.length - native.length).toBeGreaterThan(5)
    expect(histories.some(({ steps }) => steps[0]?.limit_bytes !== null)).toBe(true)
    expect(native.filter(({ steps }) => steps.some(({ failed }) => failed)).length).toBeGreaterThan(3)
  })

  test.each(histories.filter(({ steps }) => steps[0]?.expandable === false))('native, seed $seed: U and E are exact', ({ steps }) => {
    for (const one of steps) {
      expect(unreleasable(stateOf(one))).toBe(one.unreleasable)
      expect(headroom(stateOf(one), one.free_bytes)).toBe(Math.max(0, one.obtainable))
    }
  })

  test.each(histories.filter(({ steps }) => steps[0]?.expandable === true))('expandable, seed $seed: U and E are bounds', ({ steps }) => {
    for (const one of steps) {
      expect(unreleasable(stateOf(one))).toBeLessThanOrEqual(one.unreleasable)
      const room = headroom(stateOf(one), one.free_bytes) ?? -1
      expect(room).toBeGreaterThanOrEqual(Math.max(0, one.obtainable))
      expect(room).toBeLessThanOrEqual(one.free_bytes + one.stats.reserved_bytes - one.stats.active_bytes)
    }
  })

  test.each(histories)('seed $seed: S* comes with the first flush seen, and after an OOM it is what the flush left', ({ steps }) => {
    const fold = createStranded()
    const wrong: unknown[] = []
    let retries: number | undefined
    for (const one of steps) {
      const value = fold.take(stateOf(one), one.capacity)
      const flushed = retries !== undefined && one.stats.num_alloc_retries > retries
      retries = one.stats.num_alloc_retries
      const limit = Math.min(one.capacity, one.limit_bytes ?? one.capacity)
      // Nothing has changed since the flush when the request failed all the same.
      const exact = one.failed && flushed ? value === (one.stranded_at_flush ?? Number.NaN) / limit : true
      const silent = one.stranded_at_flush === null ? value === undefined : true
      if (!exact || !silent || (value ?? 0) > 1) wrong.push({ one, value })
    }
    expect(wrong).toEqual([])
  })

  test('the driver reads free memory a moment before the probe: what it counts for the process mends the difference', () => {
    const CONTEXT = 500 * 2 ** 20
    let [plain, mended, compared] = [0, 0, 0]
    for (const { steps } of histories.filter(({ steps: [first] }) => first?.expandable === false && first.limit_bytes === null)) {
      const then = createReservedThen()
      let before: Step | undefined
      for (const [index, one] of steps.entries()) {
        const driver = before ?? one
        // Its free memory is of the step before, so only what the process did itself has changed since.
        const foreign = driver.capacity - driver.free_bytes - driver.stats.reserved_bytes
        const exact = one.capacity - foreign - one.unreleasable
        const reserved = then.take(index * 1_000 + 500, one.stats, index * 1_000, driver.stats.reserved_bytes + CONTEXT)
        before = one
        if (index < 50) continue
        compared++
        plain += Math.abs((headroom(stateOf(one), driver.free_bytes) ?? 0) - exact)
        mended += Math.abs((headroom(stateOf(one), driver.free_bytes, reserved) ?? 0) - exact)
      }
    }
    expect(compared).toBeGreaterThan(1_000)
    expect(mended).toBeLessThan(plain / 20)
  })
})
