// The simulated jobs tell of their allocators as probed ones do: rows that agree with their samples, gone with their process.
import { describe, expect, test } from 'vitest'
import { createViews } from '../../../agent/http/views.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { scrapesOf, START, simulate } from './simulate.ts'

describe.each(['healthy', 'oom-fragmentation', 'mig'])('%s', (scenario) => {
  const story = simulate(scenario, 240)

  test('each sample has its row, and the measures follow from it', () => {
    const latest = createLatestStore()
    for (const reported of story.slice(0, 60)) for (const scrape of scrapesOf(reported)) latest.apply(scrape)
    const { allocators } = createViews({ latest, hostname: 'h' }).rows()
    const samples = (story[59]?.events ?? []).filter((event) => event.type === 'allocator')
    expect(allocators.length).toBe(samples.length)
    expect(samples.length).toBeGreaterThan(5)
    const wrong = samples.filter(({ pid, uuid, stats }) => {
      const row = allocators.find((candidate) => candidate.pid === pid && candidate.uuid === uuid)
      const held = (stats.active_bytes ?? 0) + (stats.inactive_split_bytes ?? 0)
      return row?.reserved_bytes !== stats.reserved_bytes || row?.unreleasable_bytes !== held || row.headroom_bytes === undefined || row.process === ''
    })
    expect(wrong).toEqual([])
  })

  test('no row stays behind when its process has ended', () => {
    const latest = createLatestStore()
    const left: unknown[] = []
    for (const reported of story) {
      for (const scrape of scrapesOf(reported)) latest.apply(scrape)
      latest.expire(START + (reported.second + 10) * 1_000)
      const alive = new Set(reported.events.flatMap((event) => (event.type === 'allocator' ? [event.pid] : [])))
      for (const { series } of latest.of('warpwatch_allocator_reserved_bytes'))
        if (!alive.has(Number(series.labels['pid']))) left.push({ second: reported.second, key: series.key })
    }
    expect(left).toEqual([])
  })
})

test('what goes to pieces shows: split memory rises, headroom falls', () => {
  const story = simulate('oom-fragmentation', 200)
  const of = (name: string, second: number): number | undefined =>
    scrapesOf(story[second + 10] ?? { second: 0, events: [] })
      .filter(({ source }) => source === 'allocator')
      .flatMap(({ readings }) => readings)
      .find(({ series }) => series.metric.name === `warpwatch_allocator_${name}` && series.labels['container'] === 'finetune-lora')?.value
  const seconds = Array.from({ length: 200 }, (_, second) => second)
  expect(Math.max(...seconds.map((second) => of('inactive_split_bytes', second) ?? 0))).toBeGreaterThan(2 * (of('inactive_split_bytes', 5) ?? 0))
  expect(Math.min(...seconds.map((second) => of('headroom_bytes', second) ?? Infinity))).toBeLessThan((of('headroom_bytes', 5) ?? 0) / 2)
})
