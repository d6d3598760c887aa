// What keeps the agent at its full pace: GPUs, also lost ones, containers, jobs, and whatever happens.
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createViews } from '../../../agent/http/views.ts'
import { containerInfo } from '../../../agent/metrics/container.ts'
import { gpuInfo } from '../../../agent/metrics/gpu-identity.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import { makeSeries, type Series } from '../../../agent/model/series.ts'
import { createLiveSink } from '../../../agent/sinks/live.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { createHostPace } from '../../../agent/wiring/pace.ts'

const START = 1_763_596_800_000
const GPU = makeSeries(gpuInfo, { gpu: '0', uuid: 'GPU-0', name: 'NVIDIA L4' })
const CONTAINER = makeSeries(containerInfo, { container: 'web', container_id: '0123456789ab', image: 'web', pid: '7' })
const scrape = (t: number, ...series: readonly Series[]): Scrape => ({
  type: 'scrape',
  t,
  source: 'test',
  group: '',
  ttlMs: 3_000,
  durationMs: 1,
  readings: series.map((one) => ({ series: one, value: 1 })),
  gaps: [],
})

function host({ always = false, runs = 0 } = {}) {
  const latest = createLatestStore()
  const live = createLiveSink({ views: createViews({ latest, hostname: 'box' }), hostname: 'box', simulated: false, maxReaders: 4 })
  onTestFinished(async () => live.close())
  const pace = createHostPace({ latest, live, runs: () => runs, always })
  const see = (t: number, ...series: readonly Series[]): void => {
    vi.setSystemTime(t)
    latest.apply(scrape(t, ...series))
    pace.ingest(scrape(t, ...series))
  }
  const quietFor = (from: number, seconds: number): boolean => {
    for (let s = 0; s <= seconds; s++) pace.tick(from + s * 1_000)
    return pace.isSlow()
  }
  return { pace, see, quietFor }
}

describe('pace of a host', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: START })
    onTestFinished(() => void vi.useRealTimers())
  })

  test('an empty one is slow after a minute, and its readings hold until the next', () => {
    const { pace, quietFor } = host()
    expect(quietFor(START, 59)).toBe(false)
    expect(pace.lasting(scrape(START))).toEqual(scrape(START))
    expect(quietFor(START, 60)).toBe(true)
    expect(pace.lasting(scrape(START))).toMatchObject({ ttlMs: 13_000 })
  })
  test.each([{ always: true }, { runs: 1 }])('never with %j', (options) => {
    expect(host(options).quietFor(START, 300)).toBe(false)
  })
  test('a GPU keeps the full pace, also when it is lost', () => {
    const { see, quietFor } = host()
    see(START, GPU)
    expect(quietFor(START, 300)).toBe(false)
    see(START + 300_000)
    expect(quietFor(START + 300_000, 300)).toBe(false)
  })
  test('a container does for as long as it is there', () => {
    const { see, quietFor } = host()
    see(START, CONTAINER)
    expect(quietFor(START, 300)).toBe(false)
    see(START + 300_000)
    expect(quietFor(START + 300_000, 60)).toBe(true)
  })
  test('a GPU that comes brings the full pace with its first reading', () => {
    const { pace, see, quietFor } = host()
    expect(quietFor(START, 60)).toBe(true)
    see(START + 61_000)
    expect(pace.isSlow()).toBe(true)
    see(START + 62_000, GPU)
    expect(pace.isSlow()).toBe(false)
  })
  test('so does an event that is no reading', () => {
    const { pace, quietFor } = host()
    expect(quietFor(START, 60)).toBe(true)
    vi.setSystemTime(START + 61_000)
    pace.ingest({ type: 'container', t: START + 61_000, action: 'start', container: 'web', container_id: '0123456789ab' })
    expect(pace.isSlow()).toBe(false)
  })
})
