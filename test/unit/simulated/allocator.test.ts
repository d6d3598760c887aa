// The simulated allocator keeps the rules that its users look for: steps, warm cache, one flush, then the failure.
import { describe, expect, test } from 'vitest'
import { createAllocator, GIB, MIB } from '../../../agent/sources/simulated/allocator.ts'

describe('simulated allocator', () => {
  test('reserves in steps and keeps what is freed as warm cache', () => {
    const allocator = createAllocator()
    allocator.demand(GIB, 0, 80 * GIB)
    const reserved = allocator.reserved()
    expect(reserved).toBeGreaterThanOrEqual(GIB)
    allocator.demand(10 * MIB, 0, 79 * GIB)
    expect(allocator.reserved()).toBe(reserved)
    expect(allocator.stats()).toMatchObject({ allocated_bytes: 10 * MIB, reserved_bytes: reserved, num_alloc_retries: 0, num_ooms: 0 })
  })

  test('on a full card it takes only what it needs before it flushes anything', () => {
    const allocator = createAllocator()
    expect(allocator.demand(GIB, 0, GIB + 20 * MIB)).toBeUndefined()
    expect(allocator.reserved()).toBeLessThanOrEqual(GIB + 20 * MIB)
    expect(allocator.stats().num_alloc_retries).toBe(0)
  })

  test('fails after one flush: the request is what is missing, stranded memory stays reserved, whole cache goes back', () => {
    const allocator = createAllocator()
    allocator.demand(10 * GIB, 0, 20 * GIB)
    allocator.demand(4 * GIB, GIB, 10 * GIB)
    const before = allocator.reserved()
    const failure = allocator.demand(30 * GIB, GIB, 10 * GIB)
    if (failure === undefined) throw new Error('30 GiB cannot fit')
    expect(failure.reserved).toBeLessThan(before)
    expect(failure.reserved).toBeGreaterThanOrEqual(5 * GIB)
    expect(failure.reserved).toBeLessThan(5 * GIB + 20 * MIB)
    expect(failure.freeBytes).toBe(before + 10 * GIB - failure.reserved)
    expect(failure.requestBytes).toBeGreaterThan(failure.freeBytes)
    expect(failure.stats).toMatchObject({ num_alloc_retries: 1, num_ooms: 1, allocated_bytes: 4 * GIB })
  })

  test('peaks never fall', () => {
    const allocator = createAllocator()
    for (const gib of [1, 5, 2, 3]) allocator.demand(gib * GIB, 0, 80 * GIB)
    expect(allocator.peaks().allocated_bytes).toBe(5 * GIB)
  })
})
