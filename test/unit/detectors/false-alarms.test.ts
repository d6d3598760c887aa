// What the healthy host of eight hours has shown to be no fault: a link at rest that is read between two requests, and one odd reading before a lost scrape.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import { pcieDegraded, powerBrake, telemetryStale, throttling } from '../../../agent/diagnosis/detectors/index.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import { reading, T, uuid } from '../incidents/scene.ts'

const place = { gpu: '0', uuid: uuid(0) }
const scrape = (second: number, group: string, everyS: number, values: Readonly<Record<string, number>>): Scrape => ({
  type: 'scrape',
  t: T + second * 1_000,
  source: 'gpu',
  group,
  ttlMs: everyS * 3_000,
  durationMs: 0,
  readings: Object.entries(values).map(([key, value]) => {
    const [name = '', why] = key.split(' ')
    return reading(name, { ...place, ...(why === undefined ? {} : { reason: why }) }, value)
  }),
  gaps: [],
})

/** Seconds at which a fault was reported. */
function faultsOf(definition: DetectorDefinition, seconds: number, tell: (second: number) => readonly Scrape[]): readonly number[] {
  const detection = createDetection({ definitions: [definition] })
  const found: number[] = []
  for (let second = 0; second < seconds; second++) {
    for (const event of tell(second)) detection.ingest(event)
    if (detection.judge(T + second * 1_000).some(({ state }) => state === 'faulty')) found.push(second)
  }
  return found
}

describe('the link of a server to which requests come now and then', () => {
  /** Read each ten seconds; the generation falls between two requests. */
  const tell = (busy: (second: number) => boolean, atWork: number) => (second: number) => [
    scrape(second, 'fast', 1, { gpu_utilization_ratio: busy(second) ? 0.6 : 0, gpu_performance_state: 0 }),
    ...(second % 10 === 0
      ? [
          scrape(second, 'slow', 10, {
            gpu_pcie_link_generation: busy(second) ? atWork : 1,
            gpu_pcie_link_generation_max: 5,
            gpu_pcie_link_width: 16,
            gpu_pcie_link_width_max: 16,
          }),
        ]
      : []),
  ]
  test.each([
    ['reads of its rest', (second: number) => second % 10 > 1],
    ['some reads of its rest', (second: number) => second % 7 > 1],
    ['hardly any work', (second: number) => second % 10 === 5],
  ])('%s are no fault', (_, busy) => {
    expect(faultsOf(pcieDegraded, 900, tell(busy, 5))).toEqual([])
  })
  test('that is slow at work too is one', () => {
    const [first = Infinity] = faultsOf(
      pcieDegraded,
      120,
      tell(() => true, 3),
    )
    expect(first).toBeLessThanOrEqual(25)
  })
})

describe('one odd reading before lost scrapes', () => {
  const tell = (key: string, odd: (second: number) => boolean, lost: (second: number) => boolean) => (second: number) =>
    lost(second)
      ? []
      : [
          scrape(second, 'fast', 1, {
            gpu_utilization_ratio: 0.9,
            'gpu_throttle_active hw_slowdown': 0,
            'gpu_throttle_active hw_power_brake_slowdown': 0,
            ...(odd(second) ? { [`gpu_throttle_active ${key}`]: 1 } : {}),
          }),
        ]
  test.each([
    ['hw_slowdown', throttling],
    ['hw_power_brake_slowdown', powerBrake],
  ])('of %s is no fault; two are', (key, detector) => {
    const odd = (second: number): boolean => second === 60
    expect(
      faultsOf(
        detector,
        120,
        tell(key, odd, (second) => second === 61 || second === 62),
      ),
    ).toEqual([])
    expect(
      faultsOf(
        detector,
        120,
        tell(
          key,
          (second) => second === 60 || second === 61,
          () => false,
        ),
      ),
    ).toContain(61)
  })
})

describe('an agent that was stopped', () => {
  const card = (second: number, used: Readonly<Record<string, number>>): Scrape => scrape(second, 'fast', 1, used)
  /** One reading is missing, then nothing is heard, and another source speaks first. */
  const tell =
    (forSeconds: number) =>
    (second: number): readonly Scrape[] => {
      if (second > 60 && second <= 60 + forSeconds) return []
      const other = { ...scrape(second, 'host', 1, {}), source: 'host' }
      return second === 60 || second === 61 + forSeconds ? [other, card(second, {})] : [other, card(second, { gpu_memory_used_bytes: 4e9 })]
    }
  test.each([12, 25, 95])('for %i s has not seen its GPUs fall silent', (pause) => {
    const detection = createDetection({ definitions: [telemetryStale] })
    const found: number[] = []
    for (let second = 0; second < 300; second++) {
      const events = tell(pause)(second)
      for (const event of events) detection.ingest(event)
      // Nobody judges while nothing comes.
      if (events.length > 0 && detection.judge(T + second * 1_000).some(({ state }) => state === 'faulty')) found.push(second)
    }
    expect(found).toEqual([])
  })
})
