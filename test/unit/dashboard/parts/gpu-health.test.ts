// Whether a GPU can be believed, what a card then shows, and the line that says what is wrong.
import { describe, expect, test } from 'vitest'
import { gpuViews, remember } from '../../../../dashboard/src/parts/live/gpu-view.ts'
import { troubleOf } from '../../../../dashboard/src/parts/live/health.ts'
import { withoutIncident, placedTitle, summarise } from '../../../../dashboard/src/parts/live/summary.ts'
import { summaryOf } from '../../../../agent/model/incident.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'
import { frame, gpu, silentGpu } from '../helpers.ts'

const T = new Date(2026, 10, 20, 12, 4, 30).getTime()
const nothing = (): undefined => undefined

describe('trouble of a GPU', () => {
  test.each([
    ['fresh', gpu(0), undefined],
    ['one measure missing', gpu(0, { gaps: [{ measure: 'fan_speed_ratio', reason: 'timeout' }] }), undefined],
    ['a late sample', gpu(0, { sample_age_seconds: 2 }), undefined],
    ['hung', silentGpu(0, 'timeout', { sample_age_seconds: 42 }), 'hung'],
    ['hung, old figures still there', gpu(0, { sample_age_seconds: 42, gaps: [{ measure: 'power_watts', reason: 'timeout' }] }), 'hung'],
    ['lost', silentGpu(0, 'gpu_lost'), 'lost'],
    [
      'lost beside other reasons',
      silentGpu(0, 'driver_error', { gaps: ['timeout', 'gpu_lost', 'driver_error'].map((reason) => ({ measure: 'x', reason })) }),
      'lost',
    ],
    ['needs a reset', silentGpu(0, 'reset_required'), 'reset'],
    ['old without a reason', gpu(0, { sample_age_seconds: 9 }), 'stale'],
    ['no permission', silentGpu(0, 'no_permission'), 'silent'],
    ['nothing at all', { uuid: 'GPU-0', index: 0 }, 'silent'],
  ])('%s', (_name, row, kind) => {
    expect(troubleOf(row)?.kind).toBe(kind)
  })

  test('an unknown reason is told in its own words', () => {
    expect(troubleOf(silentGpu(0, 'made_of_cheese'))?.reason).toBe('made of cheese')
  })
})

describe('what a card shows', () => {
  test('a hung GPU keeps its last figures with the time they are of', () => {
    const good = frame(T, [gpu(3, { power_watts: 512 })])
    const known = remember(new Map(), good)
    const bad = frame(T + 42_000, [silentGpu(3, 'timeout', { sample_age_seconds: 42 })])
    const [view] = gpuViews(bad, remember(known, bad), nothing)
    expect(view?.trouble?.kind).toBe('hung')
    expect(view?.row.power_watts).toBe(512)
    expect(view?.sinceMs).toBe(T)
    expect(view?.busy).toBe(false)
  })

  test('a utilisation that is not read, as in MIG mode, is neither busy nor idle', () => {
    const { utilization_ratio: _, ...mig } = gpu(7)
    const views = gpuViews(frame(T, [gpu(0, { utilization_ratio: 0 }), mig]), new Map(), nothing)
    expect(views.map((view) => view.busy)).toEqual([false, undefined])
    expect(summarise(views, T).busy).toBe(0)
  })

  test('one that was in trouble before the page opened shows what history knows, else nothing', () => {
    const bad = frame(T, [silentGpu(3, 'gpu_lost')])
    const [from] = gpuViews(bad, new Map(), () => ({ figures: { power_watts: 99 }, t: T - 60_000 }))
    expect([from?.row.power_watts, from?.sinceMs]).toEqual([99, T - 60_000])
    const [none] = gpuViews(bad, new Map(), nothing)
    expect([none?.row.power_watts, none?.sinceMs]).toEqual([undefined, undefined])
  })

  test('a GPU that the host no longer lists stays as gone', () => {
    const known = remember(new Map(), frame(T, [gpu(0), gpu(1)]))
    const views = gpuViews(frame(T + 1000, [gpu(1)]), known, nothing)
    expect(views.map((view) => [view.index, view.trouble?.verdict])).toEqual([
      [0, 'is gone'],
      [1, undefined],
    ])
  })
})

describe('summary', () => {
  test('quiet host', () => {
    const views = gpuViews(
      frame(T, [gpu(0), gpu(1, { utilization_ratio: 0.01 }), gpu(2, { throttle_active: { gpu_idle: 1, sw_power_cap: 1 } })]),
      new Map(),
      nothing,
    )
    expect(summarise(views, T)).toEqual({ gpus: 3, busy: 2, attention: [] })
  })

  test('names what is wrong, where and since when, the worst first', () => {
    const rows = [gpu(0, { throttle_active: { hw_slowdown: 1, hw_thermal_slowdown: 1 } }), silentGpu(3, 'timeout', { sample_age_seconds: 30 })]
    const { attention } = summarise(gpuViews(frame(T, rows), new Map(), nothing), T)
    expect(attention.map((item) => [item.severity, item.text])).toEqual([
      ['critical', 'GPU 3 has not answered since 12:04'],
      ['warning', 'GPU 0: thermally throttled (hardware)'],
    ])
  })

  test('leaves out what an incident that fires tells of the same GPU, and nothing else', () => {
    const rows = [
      gpu(0, { throttle_active: { sw_thermal_slowdown: 1 } }),
      gpu(1, { throttle_active: { sw_thermal_slowdown: 1 } }),
      silentGpu(3, 'timeout', { sample_age_seconds: 30 }),
    ]
    const { attention } = summarise(gpuViews(frame(T, rows), new Map(), nothing), T)
    const firing = (kind: 'throttling' | 'driver_hung', index: number) => ({
      ...summaryOf(INCIDENT),
      kind,
      subject: { gpu: { uuid: rows[index]?.uuid ?? '' } },
    })
    const left = (...incidents: readonly ReturnType<typeof firing>[]) => withoutIncident(attention, incidents).map(({ index }) => index)
    expect(left()).toEqual([3, 0, 1])
    expect(left(firing('throttling', 1), firing('driver_hung', 2))).toEqual([0])
    expect(left(firing('driver_hung', 0), firing('throttling', 2))).toEqual([3, 0, 1])
  })

  test.each([
    ['GPU 5 is missing', { gpu: { index: 5 } }, 'GPU 5 is missing'],
    ['GPU has fallen off the bus', { gpu: { index: 5 } }, 'GPU 5: GPU has fallen off the bus'],
    ['GPU 15 is slow', { gpu: { index: 1 }, container: { name: 'tune' } }, 'GPU 1: GPU 15 is slow'],
    ['tune leaks', { container: { name: 'tune' } }, 'tune leaks'],
    ['memory leaks', { gpu: { uuid: 'GPU-x' }, container: { name: 'tune' } }, 'tune: memory leaks'],
    ['no driver', {}, 'no driver'],
  ])('%j says where it is', (title, subject, words) => {
    expect(placedTitle({ title, subject })).toBe(words)
  })
})
