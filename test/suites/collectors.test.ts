// The contract of every collector, run against the fake library in this process: what it declares, what it emits, and what it does when calls fail.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import koffi from 'koffi'
import * as registry from '../../agent/collectors/index.ts'
import type { Collector, CollectorOutput } from '../../agent/collectors/collector.ts'
import type { Device } from '../../agent/nvml/device.ts'
import { FUNCTIONS } from '../../agent/nvml/names.ts'
import { openSession } from '../../agent/nvml/session.ts'
import type { Session } from '../../agent/nvml/session.ts'
import { createOutput } from '../../agent/sampler/child/output.ts'
import { createSeriesIds } from '../../agent/sampler/child/series-ids.ts'
import { GAP_REASONS } from '../../agent/model/reading.ts'
import type { Gap } from '../../agent/model/reading.ts'
import { fakeLibrary } from '../fakes/nvml/build.ts'
import { fakeUuid, h100, hostOf, migH100, scenarioFile, withGpu } from '../fakes/nvml/scenario.ts'
import type { FakeScenario } from '../fakes/nvml/scenario.ts'

const collectors: readonly Collector[] = Object.values(registry)
const CODES = [1, 2, 3, 4, 6, 9, 10, 13, 15, 16, 18, 21, 25, 26, 27, 28, 999]
const library = fakeLibrary()

describe('declarations', () => {
  test.each(collectors.map((collector) => [collector.id, collector] as const))('%s', (id, collector) => {
    expect(id).toMatch(/^[a-z][a-z0-9-]*$/)
    for (const metric of collector.metrics) {
      expect(metric.name).toMatch(/^warpwatch_gpu_[a-z0-9_]+$/)
      expect(metric.labels.slice(0, 2)).toEqual(['gpu', 'uuid'])
      expect(metric.help).toMatch(/^[A-Z].*\.$/)
      for (const { scale, when } of [...(metric.dcgm?.classic ?? []), ...(metric.dcgm?.current ?? [])]) {
        expect(scale).toBeGreaterThan(0)
        for (const label of Object.keys(when ?? {})) expect(metric.labels).toContain(label)
      }
    }
  })

  test('no metric and no id is declared twice', () => {
    const names = collectors.flatMap((collector) => collector.metrics.map((metric) => metric.name))
    expect(new Set(names).size).toBe(names.length)
    expect(new Set(collectors.map((collector) => collector.id)).size).toBe(collectors.length)
  })

  test('every name of dcgm-exporter is given once', () => {
    for (const generation of ['classic', 'current'] as const) {
      const names = collectors.flatMap((collector) => collector.metrics.flatMap((metric) => (metric.dcgm?.[generation] ?? []).map((dcgm) => dcgm.name)))
      expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
    }
  })
})

type Emitted = {
  readonly readings: ReadonlyMap<string, number>
  readonly gaps: readonly Gap[]
  readonly metrics: ReadonlySet<string>
  /** No value that went out was negative or not a number, and every gap has one of the reasons there are. */
  readonly sound: boolean
}

/** Reads a collector twice (rates need two looks) through the child's own output and tells what came of it. */
function readTwice(collector: Collector, device: Device): Emitted {
  const ids = createSeriesIds()
  const output = createOutput(ids)
  const attached = collector.attach(device)
  const metrics = new Set<string>()
  const readings = new Map<string, number>()
  const spy: CollectorOutput = {
    reading: (series, value) => {
      metrics.add(series.metric.name)
      readings.set(series.key, value)
      output.reading(series, value)
    },
    gap: (metric, labels, failure) => {
      metrics.add(metric.name)
      output.gap(metric, labels, failure)
    },
    processes: (rows) => {
      metrics.add('warpwatch_process_gpu_memory_bytes')
      output.processes(rows)
    },
    loads: (loads) => {
      metrics.add('warpwatch_process_gpu_utilization_ratio')
      output.loads(loads)
    },
  }
  let gaps: readonly Gap[] = []
  const sent: number[] = []
  for (const nowMs of [1_000, 2_000]) {
    readings.clear()
    output.begin()
    attached?.sample?.(nowMs)
    attached?.read(spy, nowMs)
    gaps = output.end() ?? gaps
    sent.push(...output.values())
  }
  return {
    readings,
    gaps,
    metrics,
    sound: sent.every((value) => Number.isFinite(value) && value >= 0) && gaps.every((gap) => GAP_REASONS.includes(gap.reason)),
  }
}

describe.skipIf(library === undefined)('behaviour (needs a C compiler)', () => {
  const file = scenarioFile(hostOf(1))
  let session: Session
  beforeAll(async () => {
    process.env['FAKE_NVML_SCENARIO'] = file.path
    const opened = await openSession([library ?? ''], () => 'test')
    if (typeof opened === 'string') throw new Error(opened)
    session = opened
    const code = session.start()
    if (code !== 0) throw new Error(`nvmlInit_v2 answered ${code}`)
  })
  afterAll(() => file.remove())

  const deviceOf = (scenario: FakeScenario): Device => {
    file.write(scenario)
    session.stop()
    session.start()
    const opened = session.open(0)
    if (!('device' in opened)) throw new Error(opened.detail)
    return opened.device
  }
  /** What the parent makes of rows and loads. */
  const OF_PARENT: Readonly<Record<string, string>> = {
    processes: 'warpwatch_process_gpu_memory_bytes',
    'process-utilization': 'warpwatch_process_gpu_utilization_ratio',
  }
  const declaredOf = ({ id, metrics }: Collector): readonly string[] => [
    ...metrics.map((metric) => metric.name),
    ...(OF_PARENT[id] === undefined ? [] : [OF_PARENT[id]]),
  ]
  const allowed = (collector: Collector): readonly string[] => [...declaredOf(collector), 'warpwatch_process_gpu_memory_bytes']

  /** Everything that the scenario can tell, so that a healthy GPU has no gap. */
  const complete = hostOf(1, () => ({
    fan: 40,
    retired_sbe: 1,
    retired_dbe: 0,
    retired_pending: 0,
    'field.269': 1,
    'field.270': 1,
    'field.271': 1,
  }))
  const [gpu = h100(0)] = complete.gpus
  const nothing: FakeScenario = { values: complete.values, gpus: [{ values: { uuid: fakeUuid(0), name: 'NVIDIA Bare', bus: '00000000:01:00.0' } }] }

  describe.each(collectors.map((collector) => [collector.id, collector] as const))('%s', (_, collector) => {
    test('tells every metric that it declares on a GPU that has all, without a gap', () => {
      const device = deviceOf(complete)
      const { metrics, gaps, sound } = readTwice(collector, device)
      expect(gaps).toEqual([])
      expect(sound).toBe(true)
      const reported = [...metrics].sort()
      const ofInstances = ['warpwatch_gpu_mig_info', 'warpwatch_gpu_mig_multiprocessors']
      expect(reported).toEqual(
        declaredOf(collector)
          .filter((name) => !ofInstances.includes(name))
          .sort(),
      )
    })

    test('a GPU with MIG instances, and one that supports nothing: only declared metrics, no throw', () => {
      for (const scenario of [{ ...complete, gpus: [migH100(0)] }, nothing]) {
        const { metrics, sound } = readTwice(collector, deviceOf(scenario))
        expect(allowed(collector)).toEqual(expect.arrayContaining([...metrics]))
        expect(sound).toBe(true)
      }
    })

    test('a GPU that supports nothing has gaps, no readings', () => {
      const { readings, gaps } = readTwice(collector, deviceOf(nothing))
      if (collector.id === 'identity' || collector.id === 'processes') return // who it is, and an empty list, are told
      expect([...readings]).toEqual([])
      expect([...new Set(gaps.map((gap) => gap.reason))]).toEqual(['not_supported'])
    })

    test.each(CODES)('every call answers %i: gaps, no reading, no throw', (code) => {
      const device = deviceOf(complete)
      file.write({ ...complete, values: { ...complete.values, 'ret.device': code } })
      const { readings, gaps, metrics, sound } = readTwice(collector, device)
      expect(sound).toBe(true)
      if (collector.id === 'identity' && ![15, 16, 28].includes(code)) return // tells what it knows from the enumeration
      if (collector.id === 'process-utilization' && code === 6) return // no new samples
      expect([...readings]).toEqual([])
      expect(gaps.length).toBeGreaterThan(0)
      expect(allowed(collector)).toEqual(expect.arrayContaining([...metrics]))
    })

    test('one failing function takes no other metric away', () => {
      const healthy = readTwice(collector, deviceOf(complete)).metrics
      for (const [name] of FUNCTIONS.filter(([name]) => /^nvmlDeviceGet|^nvmlGpm/.test(name))) {
        const device = deviceOf(complete)
        file.write(withGpu(complete, 0, { [`ret.${name}`]: 999 }))
        const { metrics, sound } = readTwice(collector, device)
        expect({ name, sound }).toEqual({ name, sound: true })
        // NVLink's state decides whether there is NVLink at all: then one gap means its counters.
        const reported = name === 'nvmlDeviceGetNvLinkState' ? [...healthy] : [...metrics]
        expect({ name, reported: reported.sort() }).toEqual({ name, reported: [...healthy].sort() })
      }
    })

    test('fields that fail one by one are gaps', () => {
      const fields = Object.keys(gpu.values).filter((key) => key.startsWith('field.'))
      const failing = Object.fromEntries(fields.map((key) => [key, 'ret:999']))
      const { metrics, sound } = readTwice(collector, deviceOf(withGpu(complete, 0, failing)))
      expect(sound).toBe(true)
      expect(allowed(collector)).toEqual(expect.arrayContaining([...metrics]))
    })

    test('64-bit answers of all ones are not numbers', () => {
      const ones = Object.fromEntries(
        Object.keys(gpu.values)
          .filter((key) => /^(mem_|bar1_|energy|ecc_|reasons$|field\.)/.test(key))
          .map((key) => [key, 2n ** 64n - 1n]),
      )
      const { readings, sound } = readTwice(collector, deviceOf(withGpu(complete, 0, ones)))
      expect(sound).toBe(true)
      expect([...readings].filter(([, value]) => value >= 2 ** 53)).toEqual([])
    })
  })

  test('what a driver does not have is asked once', () => {
    const calls = koffi.load(library ?? '').func('fake_calls', 'uint32', ['str'])
    const device = deviceOf(withGpu(complete, 0, { fan: undefined }))
    const attached = registry.fan.attach(device)
    const output = createOutput(createSeriesIds())
    const before: unknown = calls('nvmlDeviceGetFanSpeed')
    for (let i = 0; i < 5; i++) attached?.read(output, i)
    expect(calls('nvmlDeviceGetFanSpeed')).toBe(Number(before) + 1)
  })

  test('the call that blocks for 20 ms is never made', () => {
    const calls = koffi.load(library ?? '').func('fake_calls', 'uint32', ['str'])
    expect(calls('nvmlDeviceGetPcieThroughput')).toBe(0)
    expect(FUNCTIONS.map(([name]) => name)).not.toContain('nvmlDeviceGetPcieThroughput')
  })
})
