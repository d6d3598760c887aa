// The life of a detector's incident: it holds while the detector says faulty, silence does not end it, and a restart finds it again.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { defineDetector } from '../../../agent/diagnosis/detectors/definition.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Finding, Forecast } from '../../../agent/model/finding.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { box, line, oomText, reading, scrape, T, uuid } from './scene.ts'

const METRIC = 'warpwatch_gpu_temperature_celsius'

/** Hot above 90 °C; the forecast comes with it. */
const hot = defineDetector({
  id: 'hot',
  kinds: ['throttling', 'memory_exhaustion_forecast'],
  title: 'hot',
  severity: 'warning',
  watches: [METRIC],
  everyMs: 1_000,
  options: { limit: { default: 90, min: 0, max: 200, help: 'degrees' } },
  expression: { none: 'a test' },
  create: ({ limit }, { present }) => ({
    judge: (t) =>
      present.of(METRIC).flatMap(({ series, value }): Finding[] => {
        const key = series.labels['uuid'] ?? ''
        const about = { uuid: key }
        const faulty = {
          key,
          about,
          state: 'faulty',
          severity: value > 100 ? 'critical' : 'warning',
          title: 'hot',
          verdict: `${value} °C`,
          facts: {},
          remedies: [],
        } as const
        const forecast = { earliestMs: t + (120 - value) * 60_000, latestMs: null }
        if (value <= limit)
          return [
            { kind: 'throttling', key, about, state: 'healthy', why: 'it has cooled' },
            { kind: 'memory_exhaustion_forecast', key, about, state: 'healthy' },
          ]
        return [{ kind: 'throttling', ...faulty }, ...(value > 110 ? [{ kind: 'memory_exhaustion_forecast', ...faulty, forecast } as const] : [])]
      }),
  }),
})

function createHost(settings?: Parameters<typeof createDetection>[0]['settings'], restored: readonly Incident[] = []) {
  const reported: Incident[] = []
  const forecasts: Forecast[] = []
  const failures: string[] = []
  const detection = createDetection({
    definitions: [
      hot,
      {
        ...hot,
        id: 'broken',
        create: () => ({
          judge: () => {
            throw new Error('broken')
          },
        }),
      },
    ],
    ...(settings === undefined ? {} : { settings }),
    onForecast: (forecast) => void forecasts.push(forecast),
    onFailure: (id) => void failures.push(id),
  })
  const diagnosis = createHeardDiagnosis({
    judge: ({ text }) =>
      text === oomText() ? [{ kind: 'cuda_oom', severity: 'critical', title: 'out of memory', verdict: '', facts: {}, remedies: [], evidence: [] }] : [],
    detection,
    hostname: 'test',
    onChange: (incident) => void reported.push(incident),
  })
  diagnosis.restore(restored)
  const at = (second: number, ...degrees: readonly (number | undefined)[]): void => {
    const readings = degrees.flatMap((value, index) =>
      value === undefined ? [] : [reading('gpu_temperature_celsius', { gpu: String(index), uuid: uuid(index) }, value)],
    )
    const events: Event[] = [scrape(T + second * 1_000, 'gpu', readings), scrape(T + second * 1_000, 'host', [])]
    for (const event of events) diagnosis.ingest(event)
  }
  return { diagnosis, reported, forecasts, failures, at, firing: () => diagnosis.firing() }
}

describe('an incident of a detector', () => {
  test('opens, holds while it is repeated and while nothing is said, and resolves when it is over', () => {
    const host = createHost()
    for (let second = 0; second < 5; second++) host.at(second, 95, 60)
    const [incident] = host.firing()
    expect(host.firing()).toHaveLength(1)
    expect(incident).toMatchObject({ kind: 'throttling', count: 1, status: 'firing', subject: { gpu: { uuid: uuid(0) } } })
    // An hour without a reading of that GPU, while the agent goes on.
    for (let second = 5; second < 3_600; second++) host.at(second, undefined, 60)
    expect(host.firing().map(({ id }) => id)).toEqual([incident?.id])
    host.at(3_600, 80, 60)
    host.at(3_601, 80, 60)
    expect(host.firing()).toEqual([])
    expect(host.reported.at(-1)).toMatchObject({ id: incident?.id, status: 'resolved', resolution: 'it has cooled', resolved_at: T + 3_600_000 })
  })

  test('that is soon over still takes in the readings of half a minute after its beginning, and is told once more with these', () => {
    const host = createHost()
    for (let second = 0; second < 5; second++) host.at(second, 95)
    for (let second = 5; second < 60; second++) host.at(second, 80)
    const over = host.reported.filter(({ status }) => status === 'resolved')
    const after = over.map(({ evidence, started_at: startedAt }) =>
      Math.max(...evidence.series.flatMap(({ metric, t }) => (metric === METRIC ? t : [])).map((t) => (t - startedAt) / 1_000)),
    )
    expect(after).toEqual([0, 30])
    expect(over.map(({ resolved_at: at }) => at)).toEqual([T + 5_000, T + 5_000])
  })

  test('of a storm that is soon over only the first hundred take in the time after it', () => {
    const host = createHost()
    const uuids = Array.from({ length: 120 }, (_, index) => `GPU-${index}`)
    for (let second = 0; second < 60; second++) {
      const readings = uuids.map((each) => reading('gpu_temperature_celsius', { gpu: '0', uuid: each }, second < 5 ? 95 : 80))
      host.diagnosis.ingest(scrape(T + second * 1_000, 'gpu', readings))
    }
    expect(host.reported.filter(({ status }) => status === 'resolved')).toHaveLength(120 + 100)
  })

  test('is told when it begins and when its severity changes, and otherwise once a minute with its newest figures', () => {
    const host = createHost()
    for (let second = 0; second <= 20; second++) host.at(second, 95)
    const before = host.reported.length
    for (let second = 21; second <= 30; second++) host.at(second, 96)
    expect(host.reported.length).toBe(before)
    host.at(31, 105)
    host.at(32, 105)
    expect(host.reported.at(-1)).toMatchObject({ severity: 'critical', verdict: '105 °C' })
  })

  test('is one for each subject, and neither takes part in a crash nor swallows one', () => {
    const host = createHost()
    const trainer = box('trainer', [0])
    for (let second = 0; second < 3; second++) host.at(second, 95, 95)
    host.diagnosis.ingest(line(T + 3_000, trainer, oomText()))
    expect(host.firing().map(({ kind }) => kind)).toEqual(['throttling', 'throttling', 'cuda_oom'])
    expect(host.firing().map(({ consequences }) => consequences.length)).toEqual([0, 0, 0])
  })

  test('is found again after a restart of the agent, and resolved by its detector', () => {
    const first = createHost()
    for (let second = 0; second < 3; second++) first.at(second, 95)
    const again = createHost(undefined, first.firing())
    again.at(10, 96)
    again.at(11, 96)
    expect(again.firing().map(({ id }) => id)).toEqual(first.firing().map(({ id }) => id))
    again.at(12, 50)
    again.at(13, 50)
    expect(again.firing()).toEqual([])
    // Also where it was over by the time the agent came back.
    const cooled = createHost(undefined, first.firing())
    cooled.at(10, 50)
    cooled.at(11, 50)
    expect(cooled.firing()).toEqual([])
    expect(cooled.reported.at(-1)).toMatchObject({ status: 'resolved' })
  })
})

describe('detectors', () => {
  test('take the options that were set, and can be switched off', () => {
    const strict = createHost({ hot: { options: { limit: 50 } } })
    const off = createHost({ hot: { enabled: false } })
    for (const host of [strict, off]) for (let second = 0; second < 3; second++) host.at(second, 60)
    expect(strict.firing()).toHaveLength(1)
    expect(off.firing()).toEqual([])
  })

  test('that throw are reported, and the others go on', () => {
    const host = createHost()
    host.at(0, 95)
    host.at(1, 95)
    expect(host.failures).toEqual(['broken', 'broken'])
    expect(host.firing()).toHaveLength(1)
  })

  test('tell a forecast when it begins, when it changes by more than a tenth, and when it falls silent', () => {
    const host = createHost()
    for (let second = 0; second < 5; second++) host.at(second, 112)
    expect(host.forecasts).toHaveLength(1)
    expect(host.diagnosis.figures().forecasts).toHaveLength(1)
    for (let second = 5; second < 10; second++) host.at(second, 116)
    expect(host.forecasts).toHaveLength(2)
    host.at(10, 80)
    host.at(11, 80)
    expect(host.forecasts.at(-1)).toMatchObject({ key: uuid(0), earliestMs: null, latestMs: null })
    expect(host.diagnosis.figures().forecasts).toEqual([])
  })
})
