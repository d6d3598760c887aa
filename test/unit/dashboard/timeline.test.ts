// The window of seconds behind the charts: against a plain map, for any order of live values, history and passing time.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTimeline } from '../../../dashboard/src/state/timeline.ts'

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
