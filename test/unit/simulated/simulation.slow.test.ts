// The simulated host holds together: sums agree, counters rise, the seed decides, and every metric is one that the agent has.
import { describe, expect, test } from 'vitest'
import { createSimulation, SCENARIOS } from '../../../agent/sources/simulated.ts'
import { rounds } from '../../setup/rounds.ts'
import { scrapesOf, START, simulate, valuesBy } from './simulate.ts'

const names = [...SCENARIOS.keys()]

describe.each(names)('%s', (scenario) => {
  const story = simulate(scenario, rounds({ full: 250, quick: 45 }))

  test('used, free and reserved memory make the total on every GPU', () => {
    const wrong = story.flatMap((reported) => {
      const [used, free, reserved, total] = ['used', 'free', 'reserved', 'total'].map((part) => valuesBy(reported, `gpu_memory_${part}_bytes`, 'gpu'))
      return [...(total ?? [])]
        .filter(([gpu, bytes]) => (used?.get(gpu) ?? 0) + (free?.get(gpu) ?? 0) + (reserved?.get(gpu) ?? 0) !== bytes)
        .map(([gpu]) => ({ second: reported.second, gpu }))
    })
    expect(wrong).toEqual([])
    expect(story.every((reported) => valuesBy(reported, 'gpu_memory_total_bytes', 'gpu').size >= 7)).toBe(true)
  })

  test('the peak covers a minute by the clock, however fast the story is', () => {
    const fast = simulate(scenario, 100, { speed: 10 })
    const usedAt = fast.map((reported) => [...valuesBy(reported, 'gpu_memory_used_bytes', 'gpu')])
    const wrong: number[] = []
    for (const [at, reported] of fast.entries()) {
      const peaks = valuesBy(reported, 'gpu_memory_used_peak_bytes', 'gpu')
      for (const earlier of usedAt.slice(Math.max(0, at - 55), at + 1))
        for (const [gpu, used] of earlier) if ((peaks.get(gpu) ?? Infinity) < used) wrong.push(reported.second)
    }
    expect(wrong).toEqual([])
  })

  test('processes and what no process holds make the used memory', () => {
    for (const reported of story) {
      const used = valuesBy(reported, 'gpu_memory_used_bytes', 'uuid')
      const rest = valuesBy(reported, 'gpu_memory_unattributed_bytes', 'uuid')
      const held = new Map<string, number>()
      for (const { readings } of scrapesOf(reported))
        for (const { series, value } of readings)
          if (series.metric.name === 'warpwatch_process_gpu_memory_bytes')
            held.set(series.labels['uuid'] ?? '', (held.get(series.labels['uuid'] ?? '') ?? 0) + value)
      const sums = new Map([...used.keys()].map((uuid) => [uuid, (held.get(uuid) ?? 0) + (rest.get(uuid) ?? 0)]))
      expect(sums).toEqual(used)
    }
  })

  test('values are finite, none is negative, ratios end at 1, counters never fall', () => {
    const last = new Map<string, number>()
    const wrong: string[] = []
    for (const reported of story)
      for (const { readings } of scrapesOf(reported))
        for (const { series, value } of readings) {
          const name = series.metric.name
          if (!(value >= 0 && value < Infinity) || (name.endsWith('_ratio') && value > 1)) wrong.push(`${reported.second}: ${series.key} ${value}`)
          // What the processes of a container used starts over with it, as on a real host.
          if (name.endsWith('_total') && value < (last.get(series.key) ?? 0)) wrong.push(`${reported.second}: ${series.key} fell to ${value}`)
          last.set(series.key, value)
        }
    expect(wrong).toEqual([])
  })

  test('no series twice in a second', () => {
    const simulation = createSimulation({ scenario, seed: 1 }, START, 0)
    for (let tick = 0; tick < 130; tick++) {
      const keys = simulation.tick(START + tick * 1_000).flatMap((event) => (event.type === 'scrape' ? event.readings.map(({ series }) => series.key) : []))
      expect(keys.length).toBe(new Set(keys).size)
    }
  })
})

describe('the seed', () => {
  const text = (seed: number): string => JSON.stringify(simulate('oom-leak', 60, { seed }))

  test('the same one tells the same story, another one another', () => {
    expect(text(7)).toBe(text(7))
    expect(text(7)).not.toBe(text(8))
  })
})

describe('a host of another size', () => {
  test('has as many GPUs, processes and containers as asked for', () => {
    const [reported] = simulate('healthy', 1, { gpus: 16, processes: 40, containers: 20 })
    if (reported === undefined) throw new Error('expected at least one second')
    expect(valuesBy(reported, 'gpu_memory_used_bytes', 'uuid').size).toBe(16)
    expect(valuesBy(reported, 'process_gpu_memory_bytes', 'pid').size).toBe(40)
    expect(valuesBy(reported, 'container_memory_bytes', 'container').size).toBe(20)
  })

  test.each([1, 2, 4])('every scenario can be told with %i GPUs', (gpus) => {
    for (const scenario of names) expect(simulate(scenario, 200, { gpus })).toHaveLength(210)
  })

  test('an unknown scenario names those that exist', () => {
    expect(() => simulate('oom', 1)).toThrow(/expected a scenario of .*oom-leak.*, came "oom"/)
  })
})

describe('speed', () => {
  test('a story ten times as fast is over in a tenth of the time, while counters keep to the clock', () => {
    const fast = simulate('oom-leak', 30, { speed: 10 })
    expect(fast.some(({ events }) => events.some((event) => event.type === 'allocator_oom'))).toBe(true)
    const energy = fast.map((reported) => valuesBy(reported, 'gpu_energy_joules_total', 'gpu').get('0') ?? 0)
    const watts = ((energy.at(-1) ?? 0) - (energy[0] ?? 0)) / (energy.length - 1)
    expect(watts).toBeGreaterThan(300)
    expect(watts).toBeLessThan(700)
  })
})
