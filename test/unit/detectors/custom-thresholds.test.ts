// Thresholds of the user's own: each series by itself, for as long as was asked, with the life of any other incident.
import { describe, expect, test } from 'vitest'
import { customThresholds } from '../../../agent/diagnosis/custom-thresholds.ts'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import type { CustomThreshold } from '../../../agent/model/detector-settings.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { box, createScene, happened, reading, scrape, T, uuid } from '../incidents/scene.ts'

const HOT: CustomThreshold = {
  name: 'hot',
  metric: 'warpwatch_gpu_temperature_celsius',
  labels: {},
  comparison: '>',
  value: 85,
  forMs: 10_000,
  clearMs: 5_000,
  severity: 'warning',
}
const at = (second: number): number => T + second * 1_000
const heat = (celsius: number, gpu = 0): Reading => reading('gpu_temperature_celsius', { gpu: String(gpu), uuid: uuid(gpu) }, celsius)

/** Firing incidents at the end of each second, as `SECOND NAME of SERIES` where that changes. */
function watch(thresholds: readonly CustomThreshold[], seconds: number, tell: (second: number) => readonly Reading[] | { readonly events: readonly Event[] }) {
  const scene = createScene({ detection: createDetection({ definitions: customThresholds(thresholds) }) })
  const turns: string[] = []
  let before = ''
  for (let second = 0; second < seconds; second++) {
    const said = tell(second)
    scene.feed(...('events' in said ? said.events : [scrape(at(second), 'gpu', said)]))
    // A source that goes on whatever the other does: time passes.
    scene.feed({ ...scrape(at(second) + 1, 'host', []), group: 'clock' })
    const firing = scene.diagnosis.firing().map(({ facts }) => `${facts.name}: ${facts.series}`)
    const now = firing.toSorted().join(', ')
    if (now !== before) turns.push(`${second} ${now}`)
    before = now
  }
  return { turns, scene }
}
const series = (gpu = 0): string => `hot: ${heat(0, gpu).series.key}`

describe('a threshold', () => {
  test.each([
    ['at the bound', (): number => 85],
    ['nearly: above, but not for so long', (s: number): number => (s % 12 < 9 ? 90 : 80)],
    ['above for a moment', (s: number): number => (s === 20 ? 120 : 60)],
  ])('is silent %s', (_, celsius) => {
    expect(watch([HOT], 60, (s) => [heat(celsius(s))]).turns).toEqual([])
  })

  test('is told after its time, and over after the other', () => {
    const { turns, scene } = watch([{ ...HOT, summary: 'Look after the fans' }], 60, (s) => [heat(s >= 10 && s < 40 ? 91 : 70), heat(60, 1)])
    expect(turns).toEqual([`20 ${series()}`, '45 '])
    expect(scene.incidents()).toMatchObject([
      {
        kind: 'custom',
        severity: 'warning',
        status: 'resolved',
        subject: { gpu: { uuid: uuid(0) } },
        title: 'hot: Look after the fans',
        verdict: 'warpwatch_gpu_temperature_celsius of GPU 0 is 91 °C; it has been above 85 °C for 10 s or longer. Look after the fans.',
        facts: { name: 'hot', metric: 'warpwatch_gpu_temperature_celsius', value: 91, threshold: 85 },
      },
    ])
  })

  test.each([
    ['>=', 85, 84],
    ['<', 84, 85],
    ['<=', 85, 86],
    ['>', 86, 85],
  ] as const)('%s holds at %d and not at %d', (comparison, beyond, within) => {
    const threshold = { ...HOT, comparison, forMs: 0, clearMs: 0 }
    expect(watch([threshold], 3, () => [heat(beyond)]).turns).toEqual([`0 ${series()}`])
    expect(watch([threshold], 3, () => [heat(within)]).turns).toEqual([])
  })

  test('is for the series that carry its labels, each its own incident; two thresholds on one series are two', () => {
    const both = [heat(90), heat(90, 1)]
    expect(watch([{ ...HOT, labels: { gpu: '1' } }], 12, () => both).turns).toEqual([`10 ${series(1)}`])
    expect(watch([HOT], 12, () => both).turns).toEqual([`10 ${series(0)}, ${series(1)}`])
    const { scene } = watch([HOT, { ...HOT, name: 'warm', value: 50 }], 12, () => [heat(90)])
    expect(scene.diagnosis.firing().map(({ facts }) => facts.name)).toEqual(['hot', 'warm'])
  })

  test('is neither told nor over while its series is not read', () => {
    // Six seconds before and three after: time without data counts for neither.
    expect(watch([HOT], 53, (s) => (s > 5 && s < 50 ? [] : [heat(90)])).turns).toEqual([])
    expect(watch([HOT], 600, (s) => (s < 15 ? [heat(90)] : [])).turns).toEqual([`10 ${series()}`])
  })
})

describe('the end of', () => {
  const labels = { container: 'trainer', container_id: box('trainer', []).id, image: 'test:1' }
  test('a container ends its incident; a restart of it is another', () => {
    const big: CustomThreshold = { ...HOT, name: 'big', metric: 'warpwatch_container_memory_bytes', value: 1e9, forMs: 0, clearMs: 0 }
    const read = (second: number, bytes: number): Event => scrape(at(second), 'containers', [reading('container_memory_bytes', labels, bytes)])
    const { turns, scene } = watch([big], 60, (s) => {
      if (s < 10 || s > 40) return { events: [read(s, 2e9)] }
      if (s === 40) return { events: [happened(at(s), 'start', box('trainer', []))] }
      return { events: s === 10 ? [{ ...read(s, 0), readings: [] }, happened(at(s), 'die', box('trainer', []), 0)] : [] }
    })
    expect(turns.map((turn) => turn.split(' ')[0])).toEqual(['0', '11', '41'])
    expect(scene.incidents()).toMatchObject([
      { status: 'resolved', resolution: 'the container has ended', subject: { container: { name: 'trainer' } } },
      { status: 'firing' },
    ])
  })

  test('a process ends its incident', () => {
    const big: CustomThreshold = { ...HOT, name: 'big', metric: 'warpwatch_process_gpu_memory_bytes', value: 1e9, forMs: 0, clearMs: 0 }
    const held = (pid: number): Reading => reading('process_gpu_memory_bytes', { gpu: '0', uuid: uuid(0), pid: String(pid), process: 'python' }, 2e9)
    const { turns, scene } = watch([{ ...big, labels: { pid: '7' } }], 40, (s) => (s < 20 ? [held(7), held(8)] : [held(8)]))
    expect(turns).toHaveLength(2)
    expect(scene.incidents()).toMatchObject([{ status: 'resolved', resolution: 'the process has ended' }])
  })
})

test('after a restart of the agent each finds its own incident again', () => {
  const two = [HOT, { ...HOT, name: 'warm', value: 50 }]
  const before = watch(two, 12, () => [heat(90)]).scene.diagnosis.firing()
  expect(before).toHaveLength(2)
  const after = createScene({ detection: createDetection({ definitions: customThresholds(two) }) })
  after.diagnosis.restore(before)
  for (let second = 100; second < 130; second++) after.feed(scrape(at(second), 'gpu', [heat(70)]))
  const ids = (incidents: readonly Incident[]): readonly string[] => incidents.map(({ id }) => id)
  expect(ids(after.diagnosis.firing())).toEqual(ids(before.filter(({ facts }) => facts.name === 'warm')))
})

test('its Prometheus expression says the same', () => {
  const [definition] = customThresholds([{ ...HOT, labels: { gpu: '0' } }])
  expect(definition?.expression).toEqual({ promql: 'warpwatch_gpu_temperature_celsius{gpu="0"} > 85', for: '10s' })
})
