// From history to who held which card when, how long nothing ran meanwhile, and the lines of a job's charts.
import * as fc from '../../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { SeriesRow } from '../../../../agent/model/live.ts'
import { filterOf } from '../../../../dashboard/src/parts/job/identity.ts'
import { asRate, byGpu, gridOf, mean, summed } from '../../../../dashboard/src/features/jobs/page/lines.ts'
import { RANGES, spanQuery, ticksOf } from '../../../../dashboard/src/features/jobs/ranges.ts'
import { areaPath, beginOf, idleOf, packed, peaksOf, readSince, type Span, spansOf, unseenOf } from '../../../../dashboard/src/features/jobs/timeline/spans.ts'

const STEP = 10_000
const series = (labels: Record<string, string>, values: readonly (number | null)[], more: Partial<SeriesRow> = {}): SeriesRow => ({
  metric: 'warpwatch_container_gpu_memory_bytes',
  labels: { uuid: 'GPU-0', gpu: '0', ...labels },
  step_ms: STEP,
  t: values.map((_, i) => i * STEP),
  min: values,
  mean: values,
  max: values,
  ...more,
})

describe('who held which card when', () => {
  test('a hold lasts over one missed step, ends at two, and a zero is no hold', () => {
    const spans = spansOf([series({ container: 'a' }, [null, 5, null, 7, null, null, 3, 0, 0, 0])])
    expect(spans.map(({ from, to, highest }) => [from, to, highest])).toEqual([
      [10_000, 40_000, 7],
      [60_000, 70_000, 3],
    ])
  })

  test('a restarted container is one job, and two of its series at once are added up', () => {
    const rows = [series({ container: 'a', container_id: '1' }, [5, 5, null, null]), series({ container: 'a', container_id: '2' }, [null, 2, 6, 6])]
    const spans = spansOf(rows)
    expect(spans).toHaveLength(1)
    expect(spans[0]?.steps.map(({ bytes }) => bytes)).toEqual([5, 7, 6, 6])
    expect(peaksOf(spans)).toEqual(new Map([['a', 7]]))
  })

  test('MIG instances and cards are apart; the peak is over all of them at one step', () => {
    const rows = [
      series({ container: 'a', gi: '1' }, [5, 1]),
      series({ container: 'a', gi: '2' }, [1, 4]),
      series({ container: 'a', uuid: 'GPU-1', gpu: '1' }, [1, 3]),
    ]
    expect(spansOf(rows).map(({ uuid, gi }) => [uuid, gi])).toEqual([
      ['GPU-0', '1'],
      ['GPU-0', '2'],
      ['GPU-1', undefined],
    ])
    expect(peaksOf(spansOf(rows))).toEqual(new Map([['a', 8]]))
  })

  test('time is wasted in which the highest utilisation of the card was nothing; where it is not known nothing is said', () => {
    const spans = spansOf([series({ container: 'a' }, [5, 5, 5, 5]), series({ container: 'b' }, [null, 5, 5, null])])
    const utilization = series({}, [0, 0.004, 0.3, null])
    expect(idleOf(spans, [utilization])).toEqual(
      new Map([
        ['a', 20],
        ['b', 10],
      ]),
    )
    expect(idleOf(spans, [])).toEqual(new Map())
    expect(idleOf(spansOf([series({ container: 'a', gi: '1' }, [5])]), [utilization])).toEqual(new Map())
    // Finer figures of the GPU: all within a step must be idle.
    const finer = series({}, [0, 0, 0, 0.5, 0, 0, 0, 0], { step_ms: 5_000, t: [0, 5, 10, 15, 20, 25, 30, 35].map((s) => s * 1000) })
    expect(idleOf(spans, [finer])).toEqual(
      new Map([
        ['a', 30],
        ['b', 10],
      ]),
    )
  })

  test('the picture begins with a record that is younger than the range, and shows five minutes at the least', () => {
    const used = (first: number) => [series({}, [null, 5, 5], { step_ms: 60_000, t: [0, first, first + 60_000] })]
    const HOUR = 3_600_000
    expect(beginOf(used(2_700_000), 0, HOUR)).toBe(2_700_000)
    expect(beginOf(used(HOUR - 60_000), 0, HOUR)).toBe(HOUR - 300_000)
    expect(beginOf(used(300_000), 0, HOUR)).toBe(0)
    expect(beginOf([], 0, HOUR)).toBe(0)
    // An axis of minutes has round marks as well.
    expect(ticksOf(2_700_000, HOUR).map(({ ms }) => ms / 60_000)).toEqual([45, 50, 55, 60])
  })
  test('when a card was not read is told, not taken for free', () => {
    const used = series({}, [null, null, 5, null, 5, null, null])
    expect(unseenOf([used], 0, 70_000).get('GPU-0')).toEqual([
      { from: 0, to: 20_000 },
      { from: 50_000, to: 70_000 },
    ])
    // Nobody is said to have held it before it was read.
    expect(readSince(unseenOf([used], 0, 70_000).get('GPU-0') ?? [], 0)).toBe(20_000)
    expect(readSince([{ from: 50_000, to: 70_000 }], 0)).toBe(0)
  })

  test('bars of one line never overlap, none is lost, and there are as few lines as there are bars at once', () => {
    const some = fc.array(
      fc.record({ job: fc.constantFrom('a', 'b', 'c', 'd'), from: fc.integer({ min: 0, max: 50 }), length: fc.integer({ min: 1, max: 20 }) }),
    )
    fc.assert(
      fc.property(some, (drawn) => {
        const spans = drawn
          .map(({ job, from, length }): Span => ({
            job: { key: job, kind: 'container', name: job, colourKey: job },
            uuid: 'u',
            gpu: 0,
            gi: undefined,
            from,
            to: from + length,
            highest: 1,
            steps: [],
          }))
          .toSorted((a, b) => a.from - b.from)
        const lines = packed(spans)
        expect(new Set(lines.flat())).toEqual(new Set(spans))
        for (const line of lines) for (const [i, { from }] of line.entries()) expect(from).toBeGreaterThanOrEqual(line[i - 1]?.to ?? 0)
        const atOnce = Math.max(0, ...spans.map(({ from: t }) => spans.filter(({ from, to }) => from <= t && t < to).length))
        expect(lines.length).toBe(atOnce)
      }),
    )
  })

  test('the outline is as high as the share of the card, and never above it', () => {
    const steps = [
      { from: 0, to: 10, bytes: 40 },
      { from: 10, to: 20, bytes: 80 },
    ]
    const path = areaPath({ from: 0, to: 20, highest: 80, steps }, 160)
    expect(path).toBe('M0 100L0.0 75.0L500.0 75.0L500.0 50.0L1000.0 50.0L1000 100Z')
    expect(areaPath({ from: 0, to: 20, highest: 80, steps }, undefined)).toContain('L1000.0 0.0')
  })
})

describe('the charts of a job', () => {
  test.each([
    ['train', 'container=train&pod=', true],
    ['ml/train-0', 'namespace=ml&pod=train-0', true],
    ['slurm:7', 'slurm_job=7&container=', false],
    ['unit:user@1000:x.service', 'unit=user%401000%3Ax.service&container=', false],
    ['pid:9', 'pid=9&container=', false],
  ])('%s is asked for by %s', (key, query, inContainer) => {
    expect(filterOf(key)).toEqual({ query, inContainer })
  })

  const grid = gridOf(12_345, 45_000, STEP)

  test('lines stand on one grid of times; finer steps count by their highest, coarser ones for all they span', () => {
    expect(grid).toEqual({ from: 10_000, stepMs: STEP, length: 4 })
    const finer = series({}, [1, 9, 2, 3], { step_ms: 5_000, t: [10_000, 15_000, 20_000, 25_000] })
    const coarser = series({}, [100], { step_ms: 20_000, t: [30_000] })
    expect(summed([finer, coarser], grid, mean)).toEqual([9, 3, 100, 100])
    expect(byGpu([series({ uuid: 'GPU-1', gpu: '1' }, [1, 2]), series({}, [1, 4]), series({ container_id: 'x' }, [1, 4])], grid, mean)).toEqual({
      t: [10, 20, 30, 40],
      lines: [
        { label: 'GPU 0', slot: 0, values: [8, null, null, null] },
        { label: 'GPU 1', slot: 1, values: [2, null, null, null] },
      ],
    })
  })

  test('CPU seconds become cores; a counter that starts over, a hole, or a step that is not over leaves a gap instead of a leap', () => {
    const rows = [series({}, [100, 120, 5, 25, 45, 50, null, 45])]
    expect(asRate('cores', rows, gridOf(0, 79_999, STEP)).lines[0]?.values).toEqual([null, 2, null, 2, 2, null, null, null])
    expect(asRate('cores', [], grid).lines).toEqual([])
  })

  test('each range asks for the step that it counts with', () => {
    for (const range of RANGES) {
      const query = new URLSearchParams(spanQuery(range, 1_763_600_123_456))
      const [from = 0, to = 0, points = 0] = ['from', 'to', 'points'].map((name) => Number(query.get(name)))
      expect(to - from).toBe(range.ms)
      // As the store chooses (agent/store/history/query.ts): the finest step of which no more than `points` cover the span.
      const start = Math.floor(from / range.stepMs) * range.stepMs
      expect(Math.floor((to - start) / range.stepMs) + 1).toBeLessThanOrEqual(points)
    }
  })

  test('days begin at the local midnight, hours are round', () => {
    const at = new Date(2026, 9, 24, 13, 5).getTime()
    for (const { ms } of RANGES) {
      const ticks = ticksOf(at, at + ms)
      expect(ticks.length).toBeGreaterThanOrEqual(5)
      for (const tick of ticks) expect([new Date(tick.ms).getSeconds(), new Date(tick.ms).getMinutes() % 10]).toEqual([0, 0])
    }
    for (const { ms } of ticksOf(at, at + 7 * 86_400_000)) expect(new Date(ms).getHours()).toBe(0)
  })
})
