// Shares of a busy GPU: they sum to the GPU's own utilization, what has ended takes part, and nothing is made up.
import * as fc from '../../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { createGpuMemoryAttribution } from '../../../agent/attribution/gpu-memory.ts'
import { createLoadShares } from '../../../agent/attribution/gpu-utilization.ts'

const T = 1_800_000_000_000
const load = (ratio: number | undefined, ...loads: readonly (readonly [number, number])[]) => ({ ratio, loads: loads.map(([pid, of]) => ({ pid, ratio: of })) })

test('processes on a time-sliced GPU share its utilization by their samples', () => {
  const shares = createLoadShares().divide(load(0.9, [1, 0.6], [2, 0.2]), [1, 2, 3], T)
  expect([...(shares ?? [])].map(([pid, ratio]) => [pid, Math.round(ratio * 1_000) / 1_000])).toEqual([
    [1, 0.675],
    [2, 0.225],
    [3, 0],
  ])
})

test('work of a process that has ended is nobody else’s', () => {
  expect(
    createLoadShares()
      .divide(load(0.8, [1, 0.4], [99, 0.4]), [1], T)
      ?.get(1),
  ).toBeCloseTo(0.4)
})

test('without samples the only process has all of it, and of several nobody knows', () => {
  const shares = createLoadShares()
  expect(shares.divide({ ratio: 0.7, loads: undefined }, [1], T)).toEqual(new Map([[1, 0.7]]))
  expect(shares.divide({ ratio: 0.7, loads: undefined }, [1, 2], T)).toBeUndefined()
  expect(shares.divide({ ratio: 0, loads: undefined }, [1, 2], T)).toEqual(
    new Map([
      [1, 0],
      [2, 0],
    ]),
  )
  expect(shares.divide({ ratio: undefined, loads: [] }, [1], T)).toBeUndefined()
})

test('proportions hold until the next samples of the driver, and no longer', () => {
  const shares = createLoadShares()
  shares.divide(load(1, [1, 0.75], [2, 0.25]), [1, 2], T)
  expect(shares.divide(load(0.4), [1, 2], T + 1_000)?.get(1)).toBeCloseTo(0.3)
  expect(shares.divide(load(0.4), [1, 2], T + 4_000)).toBeUndefined()
})

test('of any samples the shares sum to the GPU’s utilization, within what has ended', () => {
  const percent = fc.integer({ min: 0, max: 100 }).map((value) => value / 100)
  const property = fc.property(percent, fc.array(percent, { minLength: 1, maxLength: 16 }), fc.integer({ min: 0, max: 3 }), (ratio, ratios, ended) => {
    const pids = ratios.map((_, at) => at + 1)
    const living = pids.slice(0, Math.max(1, pids.length - ended))
    const shares = createLoadShares().divide({ ratio, loads: ratios.map((of, at) => ({ pid: at + 1, ratio: of })) }, living, T)
    if (shares === undefined) return ratio > 0
    const sum = [...shares.values()].reduce((total, one) => total + one, 0)
    return sum <= ratio + 1e-9 && (living.length < pids.length || Math.abs(sum - ratio) < 0.05)
  })
  expect(() => fc.assert(property)).not.toThrow()
})

test('containers have the sum of their processes; instances of MIG have none', () => {
  const trainer = { id: 'a'.repeat(64), name: 'trainer' }
  const attribution = createGpuMemoryAttribution((pid) => ({ pid, startTicks: pid, name: 'python', container: trainer }))
  const of = (more: object) =>
    attribution
      .attribute({
        gpu: '0',
        uuid: 'GPU-a',
        usedBytes: 10,
        processes: [1, 2].map((pid) => ({ pid, type: 'C', bytes: 1, ...more })),
        load: { t: T, ...load(0.8, [1, 0.5], [2, 0.25]) },
      })
      .readings.flatMap(({ series, value }) => (series.metric.name.endsWith('utilization_ratio') ? [[series.metric.subject, Math.round(value * 100)]] : []))
  expect(of({})).toEqual([
    ['process', 53],
    ['process', 27],
    ['container', 80],
  ])
  expect(of({ gi: 1, ci: 0 })).toEqual([])
})
