// One process's allocator over time: what history and frames put into the steps, the parts of what is reserved, what happened when.
import { describe, expect, test } from 'vitest'
import type { SeriesRow } from '../../../../agent/model/live.ts'
import {
  columnsOf,
  createLanes,
  marksOf,
  partsOf,
  readingsAt,
  risesOf,
  SPANS,
  type Lanes,
  type Measure,
} from '../../../../dashboard/src/features/allocator/process/lanes.ts'

const T = 1_763_600_000
const row = { pid: 1, process: 'python', uuid: 'GPU-0', gpu: '0' } as const
const history = (from: number, stepS: number, values: readonly (number | null)[]): SeriesRow => ({
  metric: 'm',
  labels: {},
  step_ms: stepS * 1000,
  t: values.map((_, i) => (from + i * stepS) * 1000),
  min: values.map((value) => (value === null ? null : value - 1)),
  mean: values,
  max: values.map((value) => (value === null ? null : value + 1)),
})
const filled = (measure: Measure, values: readonly (number | null)[]): Lanes => {
  const lanes = createLanes({ spanS: 10, stepS: 1 })
  lanes.advance(T * 1000)
  lanes.takeHistory(measure, [history(T - values.length + 1, 1, values)])
  return lanes
}

describe('parts of what is reserved', () => {
  test('add up to it, and the ceiling is what no flush gives back with what can still be had', () => {
    const parts = partsOf({ allocated_bytes: 60, active_bytes: 62, inactive_split_bytes: 8, reserved_bytes: 80, unreleasable_bytes: 70, headroom_bytes: 15 })
    expect(parts).toEqual({ inUse: 60, waiting: 2, holes: 8, cache: 10, reserved: 80, headroom: 15, ceiling: 85 })
  })
  test('what is not told stays unknown; expandable segments count their holes to the cache', () => {
    expect(partsOf({ allocated_bytes: 60, active_bytes: 60, reserved_bytes: 80 })).toMatchObject({ holes: undefined, cache: 20, ceiling: undefined })
    expect(partsOf({})).toEqual({
      inUse: undefined,
      waiting: undefined,
      holes: undefined,
      cache: undefined,
      reserved: undefined,
      headroom: undefined,
      ceiling: undefined,
    })
  })
})

describe('steps', () => {
  test('history fills what frames did not bring: means of the parts, the most of what was reserved', () => {
    const lanes = createLanes({ spanS: 10, stepS: 1 })
    lanes.takeRow({ ...row, allocated_bytes: 50, reserved_bytes: 60 }, T * 1000 + 400)
    lanes.takeHistory('allocated_bytes', [history(T - 2, 1, [10, null, 30])])
    lanes.takeHistory('reserved_bytes', [history(T - 2, 1, [20, null, 40])])
    expect([T - 2, T - 1, T].map((second) => readingsAt(lanes, second).allocated_bytes)).toEqual([10, undefined, 50])
    expect([T - 2, T - 1, T].map((second) => readingsAt(lanes, second).reserved_bytes)).toEqual([21, undefined, 60])
    expect(lanes.newest()).toBe(T)
  })
  test('coarse steps of history cover the fine ones of the chart', () => {
    const lanes = createLanes(SPANS['1h'])
    lanes.advance(T * 1000)
    lanes.takeHistory('allocated_bytes', [history(T - 20, 10, [7, 8])])
    expect([-20, -15, -10, -5, 0].map((offset) => lanes.at('allocated_bytes', T + offset))).toEqual([7, 7, 8, 8, undefined])
  })
  test('each span ends in whole steps of the window', () => {
    for (const { spanS, stepS } of Object.values(SPANS)) {
      const lanes = createLanes({ spanS, stepS })
      lanes.advance(T * 1000)
      const seconds = lanes.seconds()
      expect([seconds.length, (seconds.at(-1) ?? 0) - (seconds[0] ?? 0)]).toEqual([spanS / stepS + 1, spanS])
    }
  })
})

test('columns: cumulated from the top down, empty where nothing was read, never above what was reserved', () => {
  const lanes = createLanes({ spanS: 2, stepS: 1 })
  lanes.takeRow(
    { ...row, allocated_bytes: 60, active_bytes: 62, inactive_split_bytes: 8, reserved_bytes: 80, unreleasable_bytes: 70, headroom_bytes: 15 },
    (T - 1) * 1000,
  )
  lanes.advance(T * 1000)
  const columns = columnsOf(lanes)
  expect(columns).toEqual([
    [T - 2, T - 1, T],
    [null, 80, null],
    [null, 70, null],
    [null, 62, null],
    [null, 60, null],
    [null, 85, null],
  ])
})

describe('marks', () => {
  test('stand where a counter rose; one that fell was reset, and holes hide nothing', () => {
    expect(risesOf(filled('ooms_total', [0, 0, 1, null, 2, 0, 0]), 'ooms_total')).toEqual([T - 4, T - 2])
    expect(risesOf(filled('ooms_total', [5, 5]), 'ooms_total')).toEqual([])
  })
  test('an error that only an incident tells is one; told twice it is still one', () => {
    const lanes = filled('ooms_total', [0, 0, 1, 1, 1, 1, 1, 1])
    expect(marksOf(lanes, [(T - 5) * 1000 + 300])).toEqual([{ second: T - 5, kind: 'oom' }])
    expect(marksOf(lanes, [T * 1000, (T - 900) * 1000]).map(({ second }) => second)).toEqual([T - 5, T])
  })
})
