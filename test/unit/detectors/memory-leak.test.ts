// Leaks: what stays and rises in a line is told with its pace; load, warm caches, steps and growth that ends are not.
import { describe, expect, test } from 'vitest'
import { memoryLeak } from '../../../agent/diagnosis/detectors/memory-leak/memory-leak.ts'
import { firstFault, statesOf, watch, type Moment, type Probe, type Process } from './memory-scene.ts'

const HOUR = 3_600
const trainer = (probe: Probe, more: Partial<Process> = {}): Moment => ({
  processes: [{ pid: 4242, container: 'trainer', holds: probe.reserved + 0.5, probe, ...more }],
})
const step = (second: number, floor: number, peak: number): number => (second % 2 === 0 ? floor : peak)
/** 4 MiB a second from minute 10 on: 3 % of the card in ten minutes. */
const kept = (second: number): number => Math.max(0, second - 600) / 256

type Case = { readonly name: string; readonly tell: (second: number) => Moment }
const firing: readonly Case[] = [
  { name: 'live bytes of the probe', tell: (s) => trainer({ active: step(s, 20, 40) + kept(s), reserved: 60 }) },
  { name: 'a leak at each evaluation', tell: (s) => trainer({ active: step(s, 20, 40) + kept(Math.floor(s / 300) * 300), reserved: 60 }) },
  { name: 'outside of PyTorch', tell: (s) => trainer({ active: step(s, 20, 40), reserved: 42 }, { holds: 42.5 + kept(s) }) },
  { name: 'the driver’s list alone', tell: (s) => ({ processes: [{ pid: 5, holds: 30 + Math.floor(kept(s) * 50) / 50 }] }) },
]
const quiet: readonly Case[] = [
  { name: 'steps of training', tell: (s) => trainer({ active: step(s, 20, 40), reserved: 42 }) },
  { name: 'a start that takes long', tell: (s) => trainer({ active: Math.min(40, s / 10), reserved: 60 }) },
  { name: 'peaks that grow', tell: (s) => trainer({ active: step(s, 20, 30 + kept(s)), reserved: 60 }) },
  { name: 'load that grows', tell: (s) => trainer({ active: 20 + (0.2 + (s % 7) / 5) * (1 + kept(s)), reserved: 60 }) },
  { name: 'one step up', tell: (s) => trainer({ active: step(s, 20, 40) + (s > 1_800 ? 10 : 0), reserved: 60 }) },
  { name: 'a cache that fills, with a probe', tell: (s) => trainer({ active: step(s, 20, 40), reserved: 42 + kept(s) }) },
  { name: 'a cache that fills ever more slowly, without', tell: (s) => ({ processes: [{ pid: 5, holds: 30 + Math.round(8 * Math.log2(1 + s / 300)) }] }) },
  { name: 'all of the card at once, flat since', tell: (s) => ({ processes: [{ pid: 5, holds: s < 20 ? 1 : 72 }] }) },
  { name: 'a hundredth of the card in an hour', tell: (s) => trainer({ active: step(s, 20, 40) + s / 5_000, reserved: 60 }) },
]

describe('memory_leak', () => {
  test.each(firing)('$name', ({ tell }) => {
    const { second, facts } = firstFault(watch(memoryLeak, HOUR, tell))
    expect(second).toBeLessThan(600 + 2_400)
    expect((facts?.slope_bytes_per_second ?? 0) / 2 ** 22).toBeGreaterThan(0.7)
    expect((facts?.slope_bytes_per_second ?? 0) / 2 ** 22).toBeLessThan(1.3)
  })
  test.each(quiet)('not: $name', ({ tell }) => {
    expect(statesOf(watch(memoryLeak, HOUR, tell)).filter((state) => state.startsWith('faulty'))).toEqual([])
  })
  test('says how much a minute, since when and what part of the card', () => {
    const { title, verdict, facts, remedies } = firstFault(watch(memoryLeak, HOUR, (s) => trainer({ active: step(s, 20, 40) + kept(s), reserved: 60 })))
    expect(title).toMatch(/keeps 2\d\d MiB more GPU memory each minute/)
    expect(verdict).toMatch(
      /Process python3 \(4242\) of container trainer on GPU 0 keeps 2\d\d MiB more each minute, also when it is idle: \d+(?:\.\d{1,2})? GiB \(\d+ % of what it can use\) in \d+ min/,
    )
    expect(facts?.grown_bytes).toBeGreaterThan(0.015 * 80 * 2 ** 30)
    expect(facts?.since_ms).toBeLessThan(1_763_600_000_000 + HOUR * 1_000)
    expect(remedies?.length).toBeGreaterThan(0)
  })
  test('is over when it stops, and when the process ends', () => {
    const stopped = watch(memoryLeak, 2 * HOUR, (s) => trainer({ active: step(s, 20, 40) + kept(Math.min(s, 2_700)), reserved: 60 }))
    expect(stopped.findLast(({ state }) => state === 'healthy')).toMatchObject({ why: 'it has stopped growing' })
    expect(statesOf(stopped).at(-1)).toBe('healthy')
    const ended = watch(memoryLeak, HOUR, (s) =>
      s < 3_000 ? trainer({ active: step(s, 20, 40) + kept(s), reserved: 60 }) : { processes: [{ pid: 9, holds: 1 }] },
    )
    expect(ended.findLast(({ key }) => key.endsWith(' 4242'))).toMatchObject({ state: 'healthy', why: 'the process has ended' })
  })
  test('says nothing new while nobody reads the card', () => {
    const turns = watch(memoryLeak, HOUR, (s) => ({ ...trainer({ active: step(s, 20, 40) + kept(s), reserved: 60 }), ...(s < 2_700 ? {} : { blind: true }) }))
    expect(turns.at(-1)).toMatchObject({ state: 'unknown' })
  })
})
