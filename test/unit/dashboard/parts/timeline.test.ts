// The window of seconds behind the charts: against a plain map, for any order of live values, history and passing time.
import * as fc from '../../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createTimeline } from '../../../../dashboard/src/parts/live/timeline.ts'

const SIZE = 12
const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), second: fc.integer({ min: 100, max: 160 }), value: fc.integer({ min: 0, max: 99 }) }),
  fc.record({ kind: fc.constant('fill' as const), second: fc.integer({ min: 95, max: 160 }), span: fc.integer({ min: 1, max: 5 }), value: fc.integer() }),
  fc.record({ kind: fc.constant('advance' as const), second: fc.integer({ min: 100, max: 175 }) }),
)

describe('timeline', () => {
  test('holds what a plain map of the last seconds holds', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const timeline = createTimeline(SIZE)
        timeline.advance(100)
        const model = new Map<number, number>()
        let end = 100
        const inside = (second: number): boolean => second <= end && second > end - SIZE
        for (const each of steps) {
          if (each.kind === 'advance') {
            timeline.advance(each.second)
            end = Math.max(end, each.second)
          } else if (each.kind === 'put') {
            timeline.put('a', each.second, each.value)
            end = Math.max(end, each.second)
            if (inside(each.second)) model.set(each.second, each.value)
          } else {
            timeline.fill('a', each.second, each.second + each.span, each.value)
            for (let second = each.second; second < each.second + each.span; second++) if (inside(second) && !model.has(second)) model.set(second, each.value)
          }
          for (const second of model.keys()) if (!inside(second)) model.delete(second)
        }
        expect(timeline.end()).toBe(end)
        for (let second = end - SIZE + 1; second <= end; second++) expect(timeline.at('a', second)).toBe(model.get(second))
        expect(timeline.newest('a')).toBe(model.size === 0 ? undefined : Math.max(...model.keys()))
        expect(timeline.oldest('a')).toBe(model.size === 0 ? undefined : Math.min(...model.keys()))
        expect(timeline.keys('a').length).toBe(model.size === 0 ? 0 : 1)
      }),
    )
  })

  test('forgets a lane whose values all left the window, so that memory does not grow with containers that come and go', () => {
    const timeline = createTimeline(SIZE)
    for (let second = 100; second < 1000; second++) timeline.put(`container ${second}`, second, 1)
    expect(timeline.keys('').length).toBe(SIZE)
  })
})

/** Live seconds as the means and the highest of whole cells. */
const folded = (values: readonly (readonly [second: number, value: number])[], step: number): ReadonlyMap<number, readonly number[]> => {
  const cells = new Map<number, number[]>()
  for (const [second, value] of values) cells.set(Math.floor(second / step), [...(cells.get(Math.floor(second / step)) ?? []), value])
  return cells
}

describe('coarse cells', () => {
  test('hold the mean and the highest of the seconds that came', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 7 }), fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 60 }), (step, values) => {
        const timeline = createTimeline(SIZE, step)
        const start = 70 * step
        const live = values.map((value, i) => [start + i, value] as const)
        for (const [second, value] of live) timeline.put('a', second, value)
        const end = start + values.length - 1
        expect(timeline.end()).toBe(end)
        expect(timeline.secondAt(SIZE - 1)).toBe(end)
        expect(timeline.secondAt(SIZE - 2)).toBe(Math.floor(end / step) * step - 1)
        for (const [cell, members] of folded(live, step)) {
          if (cell <= Math.floor(end / step) - SIZE) continue
          expect(timeline.at('a', cell * step)).toBeCloseTo(members.reduce((sum, value) => sum + value, 0) / members.length, 6)
          expect(timeline.peaks('a')?.[SIZE - 1 - (Math.floor(end / step) - cell)]).toBe(Math.max(...members))
        }
        expect(timeline.keys('a')).toEqual(['a'])
      }),
    )
  })

  test('take history over what came live, as it saw what the page missed, and go on from there', () => {
    const timeline = createTimeline(4, 10)
    timeline.put('a', 109, 5)
    timeline.put('a', 110, 5)
    timeline.fill('a', 100, 110, 7, 99)
    timeline.fill('a', 110, 120, 6, 8)
    timeline.put('a', 111, 4)
    expect(timeline.at('a', 105)).toBe(7)
    expect(timeline.at('a', 111)).toBe(5)
    expect([...(timeline.peaks('a') ?? [])]).toEqual([NaN, NaN, 99, 8])
    expect(createTimeline().peaks('a')).toBeUndefined()
  })

  test('a step that history gives coarser covers all its cells, and nothing beyond the window', () => {
    const timeline = createTimeline(4, 10)
    timeline.advance(139)
    timeline.fill('a', 80, 130, 3)
    expect([...(timeline.values('a') ?? [])]).toEqual([3, 3, 3, NaN])
  })
})
