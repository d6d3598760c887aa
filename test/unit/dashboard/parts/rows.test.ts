// Table rows and their order.
import * as fc from '../../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { ProcessRow } from '../../../../agent/model/live.ts'
import { outsideContainers } from '../../../../dashboard/src/parts/live/owner.ts'
import { containerViews, processViews } from '../../../../dashboard/src/parts/live/rows.ts'
import { heldOrder, nextSort, sortRows, steadyOrder } from '../../../../dashboard/src/parts/table/sort.ts'
import { container, frame, gpu, silentGpu } from '../helpers.ts'

const process = (pid: number, index: number, bytes?: number): ProcessRow => ({
  pid,
  process: 'python',
  uuid: `GPU-${index}`,
  gpu: String(index),
  ...(bytes !== undefined && { gpu_memory_bytes: bytes }),
})

describe('rows', () => {
  test('a process on several GPUs is one row; what its driver does not tell is not counted as zero', () => {
    const views = processViews([process(7, 1, 20), process(7, 0, 10), process(8, 0)], 0)
    expect(views.map((view) => [view.pid, view.gpuBytes, view.holdings.map((holding) => [holding.index, holding.bytes])])).toEqual([
      [
        7,
        30,
        [
          [0, 10],
          [1, 20],
        ],
      ],
      [8, undefined, [[0, undefined]]],
    ])
  })

  test('a process is as old as the figures beside it say; one whose start is not known has no age', () => {
    const views = processViews([{ ...process(7, 0), start_timestamp_seconds: 1_000 }, process(8, 0)], 1_090_000)
    expect(views.map(({ age }) => age)).toEqual([90_000, undefined])
  })

  test('a container shows what it asked for and does not use', () => {
    const row = container('a', { 'GPU-1': 5, 'GPU-0': 0 }, { gpus_requested: 'GPU-0,GPU-1,GPU-2,GPU-unknown' })
    const [view] = containerViews(frame(0, [gpu(0), gpu(1), gpu(2)], [row]))
    expect([view?.requested, view?.unused, view?.gpuBytes]).toEqual([[0, 1, 2], [0, 2], 5])
  })
})

describe('MIG', () => {
  const on = (pid: number, gi: string, bytes: number): ProcessRow => ({ ...process(pid, 7, bytes), gi, container: 'a', container_id: 'a-id' })
  const holdings = (rows: readonly ProcessRow[]): unknown =>
    containerViews(frame(0, [gpu(6), gpu(7)], [container('a', { 'GPU-6': 3, 'GPU-7': 50 })], rows)).map((view) => [view.holdings, view.gpuBytes])

  test('a container shows the instances in which its processes are, and no other container’s', () => {
    expect(holdings([on(1, '2', 20), on(2, '2', 30), { ...on(3, '1', 9), container_id: 'b-id' }])).toEqual([
      [
        [
          { index: 6, bytes: 3 },
          { index: 7, gi: '2', bytes: 50 },
        ],
        53,
      ],
    ])
    expect(holdings([on(1, '2', 20), on(2, '1', 30)])).toEqual([
      [
        [
          { index: 6, bytes: 3 },
          { index: 7, gi: '1', bytes: 30 },
          { index: 7, gi: '2', bytes: 20 },
        ],
        53,
      ],
    ])
  })
})

describe('outside containers', () => {
  test('names who holds memory of one GPU, the largest first', () => {
    const rows = [process(1, 4, 5), { ...process(2, 4, 9), unit: 'session-12.scope' }, { ...process(3, 4, 99), container: 'a' }, process(4, 5, 7)]
    expect(outsideContainers(rows, 'GPU-4')).toEqual([
      { owner: 'session-12.scope (python, PID 2)', bytes: 9 },
      { owner: 'host (python, PID 1)', bytes: 5 },
    ])
  })
})

describe('a GPU that does not answer', () => {
  test('is not called unused, and the sum says that it may be more', () => {
    const row = container('a', { 'GPU-1': 5 }, { gpus_requested: 'GPU-0,GPU-1' })
    const [view] = containerViews(frame(0, [silentGpu(0, 'timeout'), gpu(1)], [row]))
    expect([view?.requested, view?.unused, view?.gpuBytes, view?.unread]).toEqual([[0, 1], [], 5, [0]])
  })
})

describe('sorting', () => {
  test('in either direction the unknown comes last and equal rows keep the order of their keys', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.uuid(), value: fc.option(fc.integer(), { nil: undefined }) })), fc.boolean(), (rows, descending) => {
        const sorted = sortRows(
          rows,
          (row) => row.value,
          descending,
          (row) => row.id,
        )
        expect(sorted.length).toBe(rows.length)
        const values = sorted.map((row) => row.value)
        const known = values.filter((value) => value !== undefined)
        expect(values.slice(0, known.length)).toEqual(known)
        expect(known).toEqual(known.toSorted((a, b) => (descending ? b - a : a - b)))
      }),
    )
  })

  test('names sort as people count', () => {
    const names = ['job-10', 'job-9', 'Job-1']
    expect(
      sortRows(
        names,
        (name) => name,
        false,
        (name) => name,
      ),
    ).toEqual(['Job-1', 'job-9', 'job-10'])
  })

  const steady = (rows: Readonly<Record<string, number | undefined>>, before: string, descending = true): string => {
    const named = Object.entries(rows).map(([name, value]) => ({ name, value }))
    const key = ({ value }: (typeof named)[number]): number | undefined => value
    const nameOf = ({ name }: (typeof named)[number]): string => name
    const sorted = sortRows(named, key, descending, nameOf)
    return steadyOrder(sorted, before.split(' '), key, descending, nameOf).map(nameOf).join(' ')
  }
  test('live rows that are about alike keep their places; what is clearly more moves up, past all that it exceeds', () => {
    expect(steady({ a: 98, b: 100, c: 10 }, 'a b c')).toBe('a b c')
    expect(steady({ a: 90, b: 100, c: 10 }, 'a b c')).toBe('b a c')
    expect(steady({ a: 90, b: 93, c: 96, d: 100 }, 'a b c d')).toBe('c d a b')
    expect(steady({ a: 98, b: 100, c: 10 }, 'a b c', false)).toBe('c a b')
  })
  test('a new row comes exactly where it belongs, one without a figure last, and one that has gone leaves no hole', () => {
    expect(steady({ a: 98, b: 100, n: 99 }, 'a b gone')).toBe('n a b')
    expect(steady({ a: 104, b: 110, n: 105 }, 'a b', false)).toBe('a n b')
    expect(steady({ a: undefined, b: 100, n: undefined }, 'a b')).toBe('b a n')
  })
  test('whatever it was before, all rows are there once, and none stands below one that it clearly exceeds', () => {
    const rows = fc.uniqueArray(fc.record({ name: fc.uuid(), value: fc.nat(1_000) }), { selector: ({ name }) => name, maxLength: 30 })
    fc.assert(
      fc.property(rows, fc.nat(1_000), (now, seed) => {
        const before = now.toSorted((a, b) => ((a.value * 7_919 + seed) % 101) - ((b.value * 7_919 + seed) % 101)).slice(seed % 4)
        const key = ({ value }: { readonly value: number }): number => value
        const nameOf = ({ name }: { readonly name: string }): string => name
        const order = steadyOrder(sortRows(now, key, true, nameOf), before.map(nameOf), key, true, nameOf)
        expect(order.map(nameOf).toSorted()).toEqual(now.map(nameOf).toSorted())
        const old = order.filter((row) => before.includes(row))
        for (const [at, row] of old.entries()) for (const above of old.slice(0, at)) expect(row.value * 0.95).toBeLessThanOrEqual(above.value)
      }),
    )
  })

  test('rows that are held keep their places whatever they show; new ones come at the end, in their own order', () => {
    expect(heldOrder(['a', 'b', 'n', 'c', 'm'], ['c', 'gone', 'a', 'b'], (name) => name)).toEqual(['c', 'a', 'b', 'n', 'm'])
  })

  test('a second click turns the order, another column begins with its own', () => {
    expect(nextSort({ column: 'a', descending: true }, 'a', true)).toEqual({ column: 'a', descending: false })
    expect(nextSort({ column: 'a', descending: false }, 'b', true)).toEqual({ column: 'b', descending: true })
  })
})
