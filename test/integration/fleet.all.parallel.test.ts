// The simulated fleet of bench/fleet before a real Prometheus: its hosts are as many series as a real agent, each its own, and their jobs change as they say.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { ask, startPrometheus } from '../../bench/fleet/engines.ts'
import { lifeAt } from '../../bench/fleet/host.ts'
import { costOf, enginesMissing, startFleet, type Engine, type Fleet } from '../../bench/fleet/process.ts'
import { dashboardQueries, QUERIES, timeDashboard } from '../../bench/fleet/queries.ts'
import { keyOf, record, samplesOf, withoutDcgm, type Recording } from '../../bench/fleet/recording.ts'
import { churnedPerDay, createTemplate } from '../../bench/fleet/template.ts'
import { freePort } from '../setup/free-port.ts'
import { poll } from '../setup/poll.ts'
import { parseExposition } from '../unit/http/parse-exposition.ts'

const HOSTS = 3
const HOUR_MS = 3_600_000
const BEGIN = Date.UTC(2026, 10, 22)
const keysOf = (page: string): readonly string[] => samplesOf(page).map(keyOf)

let recording: Recording
beforeAll(async () => {
  recording = await record(await freePort(), 40)
})

describe('a page of a simulated host', () => {
  test.each(['text', 'openmetrics'] as const)('has every series of the recorded page, none twice: %s', (format) => {
    const template = createTemplate(recording, format)
    const families = parseExposition(template.page(7, BEGIN), format)
    const keys = keysOf(template.page(7, BEGIN))
    expect([...families.values()].reduce((sum, { samples }) => sum + samples.length, 0)).toBe(template.series)
    // Of the agent's own, one may come while it is watched.
    expect(samplesOf(recording[format]).length - template.series).toBeLessThan(5)
    expect(new Set(keys).size).toBe(template.series)
    expect(template.series).toBeGreaterThan(900)
  })

  test('shares no card, container or process with another host', () => {
    const template = createTemplate(recording, 'text')
    const pages = [0, 1, 2].map((host) => template.page(host, BEGIN))
    const identities = (page: string): readonly string[] => [...new Set(page.match(/GPU-[0-9a-f-]{36}|container_id="[^"]+"|Hostname="[^"]+"/g))]
    const all = pages.flatMap(identities)
    expect(all.length).toBeGreaterThan(3 * 16)
    expect(new Set(all).size).toBe(all.length)
    expect(pages.join('')).not.toContain('template-host')
  })

  test('counts up and never down while its containers live', () => {
    const template = createTemplate(recording, 'text')
    const counters = new Set(recording.counters.filter((name) => name !== 'DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL')) // a rate, whatever its type says
    const values = (now: number): ReadonlyMap<string, number> =>
      new Map(
        samplesOf(template.page(1, now)).flatMap((line) =>
          counters.has(line.replace(/[ {].*/, '')) ? [[keyOf(line), Number(line.split(' ').at(-1))] as const] : [],
        ),
      )
    let before = values(BEGIN)
    let risen = 0
    for (let n = 1; n <= 60; n += 1) {
      const now = values(BEGIN + n * 15_000)
      const fallen = [...now].filter(([key, value]) => value < (before.get(key) ?? value))
      expect(fallen).toEqual([])
      for (const [key, value] of now) if (value > (before.get(key) ?? value)) risen += 1
      before = now
    }
    expect(risen).toBeGreaterThan(60 * 20)
  })

  test('has as many new series a day as it says', () => {
    const template = createTemplate(recording, 'text')
    const days = 3
    // Over several hosts, since each has lives of its own lengths.
    const hosts = [0, 1, 2, 3, 4, 5, 6, 7]
    const born = hosts.map((host) => {
      const seen = new Set<string>(keysOf(template.page(host, BEGIN)))
      const atStart = seen.size
      for (let hour = 0; hour <= 24 * days * 2; hour += 1) for (const key of keysOf(template.page(host, BEGIN + (hour * HOUR_MS) / 2))) seen.add(key)
      return (seen.size - atStart) / days
    })
    const mean = born.reduce((sum, count) => sum + count, 0) / hosts.length
    expect(mean / churnedPerDay(template)).toBeGreaterThan(0.7)
    expect(mean / churnedPerDay(template)).toBeLessThan(1.4)
    expect(lifeAt(1, 'finetune-lora', BEGIN + 24 * HOUR_MS).generation).toBeGreaterThan(lifeAt(1, 'finetune-lora', BEGIN).generation)
  })

  test('is without the names of dcgm-exporter where that is wanted', () => {
    const [all, own] = [createTemplate(recording, 'text'), createTemplate(withoutDcgm(recording), 'text')]
    const dcgm = keysOf(all.page(0, BEGIN)).filter((key) => key.startsWith('DCGM_')).length
    expect(dcgm).toBeGreaterThan(200)
    expect(own.series).toBe(all.series - dcgm)
    expect(own.page(0, BEGIN)).not.toContain('DCGM_')
  })
})

describe.skipIf(enginesMissing !== undefined)(`the fleet before Prometheus (${enginesMissing ?? 'and what it costs'})`, () => {
  let fleet: Fleet
  let prometheus: Engine
  beforeAll(async () => {
    fleet = await startFleet(recording)
    prometheus = await startPrometheus({ hosts: HOSTS, intervalS: 1, address: fleet.address })
    await poll(async () => (await ask(prometheus, `count(count_over_time(up{job="warpwatch"}[1m]) > 2)`)) === HOSTS, {
      what: 'scrapes of all hosts',
      deadlineMs: 60_000,
    })
  })
  afterAll(async () => {
    await prometheus.stop()
    await fleet.stop()
  })

  test('every host is up with all its series', async () => {
    const { series } = createTemplate(recording, 'openmetrics')
    expect(await ask(prometheus, 'sum(up{job="warpwatch"})')).toBe(HOSTS)
    expect(await ask(prometheus, 'min(scrape_samples_post_metric_relabeling{job="warpwatch"})')).toBe(series)
    expect(await ask(prometheus, 'count(count by (instance, uuid) (warpwatch_gpu_info))')).toBe(HOSTS * 8)
  })

  test.each(Object.entries(QUERIES).filter(([what]) => !what.startsWith('one host')))('%s: has an answer', async (_, query) => {
    const answer = await poll(() => ask(prometheus, query), { what: query, deadlineMs: 20_000, everyMs: 200 })
    expect(answer).toBeGreaterThanOrEqual(0)
  })

  test('takes every query of the fleet dashboard', async () => {
    expect(dashboardQueries().length).toBeGreaterThan(20)
    expect(dashboardQueries().filter((query) => query.includes('$'))).toEqual([])
    expect(await timeDashboard(prometheus)).toBeGreaterThan(0)
  })

  test('what the processes cost is read', async () => {
    const { pages, bytes } = await fleet.figures()
    expect(
      z
        .number()
        .positive()
        .safeParse(bytes / pages).success,
    ).toBe(true)
    const cost = costOf(prometheus.pid)
    expect(cost.cpuS).toBeGreaterThan(0)
    expect(cost.rssBytes).toBeGreaterThan(20 * 1024 ** 2)
    expect(cost.peakBytes).toBeGreaterThanOrEqual(cost.rssBytes)
  })
})
