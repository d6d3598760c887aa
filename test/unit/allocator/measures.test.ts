// U, E and S* on cases that can be reckoned by hand.
import { describe, expect, test } from 'vitest'
import { createReservedThen, createStranded, headroom, unreleasable, type AllocatorState } from '../../../agent/allocator/measures.ts'

const MIB = 2 ** 20
const state = (allocated: number, reserved: number, split: number | undefined, more: Partial<AllocatorState> = {}): AllocatorState => ({
  backend: 'native',
  expandable: false,
  stats: { allocated_bytes: allocated, active_bytes: allocated, reserved_bytes: reserved, ...(split === undefined ? {} : { inactive_split_bytes: split }) },
  ...more,
})
const counted = (retries: number, ooms: number, reserved: number, split: number, more: Partial<AllocatorState> = {}): AllocatorState => {
  const base = state(50, reserved, split, more)
  return { ...base, stats: { ...base.stats, num_alloc_retries: retries, num_ooms: ooms } }
}

describe('U and E', () => {
  test('what a flush gives back is reserved less active less split', () => {
    expect(unreleasable(state(60, 100, 10))).toBe(70)
    expect(headroom(state(60, 100, 10), 20)).toBe(50)
    expect(headroom(state(60, 100, 10, { limit_bytes: 110 }), 20)).toBe(40)
    expect(headroom(state(60, 100, 10, { limit_bytes: null }), 20)).toBe(50)
    expect(headroom(state(60, 100, 10, { limit_bytes: 40 }), 20)).toBe(0)
  })
  test('memory that a stream still waits for cannot be given back', () => {
    expect(unreleasable({ backend: 'native', stats: { allocated_bytes: 10, active_bytes: 25, reserved_bytes: 40, inactive_split_bytes: 5 } })).toBe(30)
  })
  test('what is not known is not made up', () => {
    expect(unreleasable(state(60, 100, undefined))).toBeUndefined()
    expect(headroom(state(60, 100, undefined), 5)).toBeUndefined()
    expect(unreleasable(state(60, 100, undefined, { expandable: true }))).toBe(60)
    expect(unreleasable({ stats: {} })).toBeUndefined()
    expect(unreleasable(state(60, 100, 0, { backend: 'cudaMallocAsync' }))).toBeUndefined()
    expect(unreleasable(state(60, 100, 0, { backend: 'other' }))).toBeUndefined()
  })
})

describe('S*', () => {
  test('nothing before the first flush; counters of a process met late tell of none', () => {
    const fold = createStranded()
    expect(fold.take(counted(7, 2, 90, 30), 100)).toBeUndefined()
    expect(fold.take(counted(7, 2, 90, 30), 100)).toBeUndefined()
    expect(fold.take(counted(8, 2, 70, 20), 100)).toBe(0.2)
    expect(fold.take(counted(8, 2, 99, 45), 100), 'holds until the next flush').toBe(0.2)
    expect(fold.take(counted(8, 3, 60, 10), 100), 'an OOM is one').toBe(0.1)
  })
  test('a reset of the counters is no flush', () => {
    const fold = createStranded()
    fold.take(counted(9, 0, 90, 30), 100)
    expect(fold.take(counted(0, 0, 90, 30), 100)).toBeUndefined()
    expect(fold.take(counted(1, 0, 90, 30), 100)).toBe(0.3)
  })
  test('over the fraction where there is one; without any capacity there is no share', () => {
    const fold = createStranded()
    fold.take(counted(0, 0, 90, 30), undefined)
    expect(fold.take(counted(1, 0, 90, 30), undefined)).toBeUndefined()
    expect(fold.take(counted(2, 0, 90, 30, { limit_bytes: 60 }), 100)).toBe(0.5)
  })
  test('expandable segments count no split: what is reserved and not active', () => {
    const fold = createStranded()
    fold.take(counted(0, 0, 90, 0, { expandable: true }), 100)
    expect(fold.take(counted(1, 0, 58, 0, { expandable: true }), 100)).toBe(0.08)
  })
})

test('what was reserved when the driver looked: learnt while the cache stands still', () => {
  const then = createReservedThen()
  const at = (t: number, reserved: number, driverT: number, process: number | undefined) =>
    then.take(t, { reserved_bytes: reserved * MIB }, driverT, process === undefined ? undefined : process * MIB)
  expect(at(500, 100, 0, 700), 'nothing is known yet').toBe(100 * MIB)
  expect(at(1_500, 100, 1_000, 700)).toBe(100 * MIB)
  expect(at(2_500, 400, 2_000, 800), 'it grew by 100 before the driver looked, by 200 after').toBe(200 * MIB)
  expect(at(3_500, 400, 3_000, undefined)).toBe(400 * MIB)
  expect(then.take(4_500, {}, 4_000, 5)).toBeUndefined()
})
