// A host with unified memory: warned of in time when it fills up, silent when it is only used, and told of after it was switched off.
import { describe, expect, it } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { hostExhausted } from '../../../agent/diagnosis/detectors/index.ts'
import { scrapeOf, timeOf } from '../../setup/rule-scenes/scene.ts'
import { rounds } from '../../setup/rounds.ts'
import { createUnifiedHost, TOTAL, type UnifiedHost } from '../../setup/unified-host.ts'

/** Seconds in which it said that memory runs out. */
function warnings({ seconds, tell }: Pick<UnifiedHost, 'seconds' | 'tell'>): readonly number[] {
  const detection = createDetection({
    definitions: [hostExhausted],
    settings: {},
    onFailure: (_, error) => {
      throw error
    },
  })
  const said: number[] = []
  for (let second = 0; second < seconds; second += 5) {
    for (const event of tell(second)) detection.ingest(event)
    if (detection.judge(timeOf(second)).some(({ state }) => state === 'faulty')) said.push(second)
  }
  return said
}
const SEEDS = Array.from({ length: rounds({ full: 40, quick: 6 }) }, (_, seed) => seed + 1)

describe('host_exhausted', () => {
  it('warns two minutes before in at least nine of ten hosts that fill up', () => {
    const leads = SEEDS.map((seed) => createUnifiedHost(seed, true)).map((host) => (host.fullAt ?? 0) - (warnings(host)[0] ?? Infinity))
    expect(leads.filter((lead) => lead >= 120).length, `leads ${leads.map(Math.round).join(' ')}`).toBeGreaterThanOrEqual(0.9 * SEEDS.length)
  })

  it('is silent on as many hosts that load models, cache files and answer requests', () => {
    const hosts = SEEDS.map((seed) => createUnifiedHost(1_000 + seed, false))
    expect(hosts.every(({ fullAt }) => fullAt === undefined)).toBe(true)
    expect(SEEDS.filter((seed, at) => hosts[at] !== undefined && warnings(hosts[at]).length > 0 && seed > 0)).toEqual([])
  })

  it('says nothing of a host whose GPU has memory of its own', () => {
    const host = createUnifiedHost(3, true)
    const plain = (second: number) => host.tell(second).filter((event) => event.type === 'scrape' && event.source === 'host')
    expect(warnings({ seconds: host.seconds, tell: plain })).toEqual([])
  })

  it('says nothing of a boot that ended at no date', () => {
    const tell = (second: number) => [
      scrapeOf(second, 'previous-boot', {
        host_previous_boot_end_timestamp_seconds: 1e20,
        host_previous_boot_memory_free_ratio: 0.004,
        host_previous_boot_memory_fall_ratio: 0.4,
      }),
    ]
    expect(warnings({ seconds: 20, tell })).toEqual([])
  })

  it.each([
    [0.004, 0.4, true],
    [0.004, 0, false],
    [0.3, 0.4, false],
  ])('after a boot that ended with %s available, fallen by %s: told %s', (free, fall, reported) => {
    const tell = (second: number) => [
      scrapeOf(second, 'previous-boot', {
        host_previous_boot_end_timestamp_seconds: timeOf(0) / 1_000 - 90,
        host_previous_boot_memory_free_ratio: free,
        host_previous_boot_memory_fall_ratio: fall,
      }),
      scrapeOf(second, 'host', { host_memory_total_bytes: TOTAL, host_memory_available_bytes: 0.9 * TOTAL }),
    ]
    expect(warnings({ seconds: 20, tell }).length > 0).toBe(reported)
  })
})
