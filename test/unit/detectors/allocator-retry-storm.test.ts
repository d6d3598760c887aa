// Flushes again and again are reported, a single one is not; a counter that was reset is no flush.
import { describe, expect, test } from 'vitest'
import { allocatorRetryStorm } from '../../../agent/diagnosis/detectors/allocator-retry-storm.ts'
import { firstFault, GIB, statesOf, watch, type Moment } from './memory-scene.ts'

const MINUTES = 60
const trainer = (retries: number, more: { readonly reserved?: number; readonly expandable?: boolean } = {}): Moment => ({
  processes: [
    { pid: 4242, container: 'trainer', holds: 70, probe: { active: 40, reserved: more.reserved ?? 69, retries, expandable: more.expandable ?? false } },
  ],
})

type Case = { readonly name: string; readonly tell: (second: number) => Moment }
const quiet: readonly Case[] = [
  { name: 'no flush', tell: () => trainer(0) },
  { name: 'one flush', tell: (s) => trainer(s < 500 ? 0 : 1) },
  { name: 'a burst for one request', tell: (s) => trainer(s < 500 ? 0 : s < 503 ? s - 499 : 4) },
  { name: 'nearly: one each seven minutes', tell: (s) => trainer(Math.floor(s / 420)) },
  { name: 'nearly: two within a minute and a half', tell: (s) => trainer(s < 500 ? 0 : s < 580 ? 1 : 2) },
  { name: 'many from before the agent began to look', tell: () => trainer(5_000) },
  { name: 'a counter that the program resets', tell: (s) => trainer(s < 600 ? 50 : 0) },
  {
    name: 'five in a time that nobody saw',
    tell: (s) => (s > 300 && s < 700 ? { processes: [{ pid: 4242, container: 'trainer', holds: 70 }] } : trainer(s < 500 ? 0 : 5)),
  },
  {
    name: 'the same by another process each time',
    tell: (s) => ({ processes: [{ pid: 100 + Math.floor(s / 120), holds: 70, probe: { active: 4, reserved: 60, retries: s % 120 > 100 ? 1 : 0 } }] }),
  },
]

describe('allocator retry storm', () => {
  test.each(quiet)('says nothing of $name', ({ tell }) => {
    expect(statesOf(watch(allocatorRetryStorm, 40 * MINUTES, tell)).filter((said) => said.startsWith('faulty'))).toEqual([])
  })

  test('tells within two minutes of four flushes a minute, with what they cost', () => {
    const turns = watch(allocatorRetryStorm, 10 * MINUTES, (s) =>
      trainer(s < 300 ? 0 : Math.floor((s - 300) / 15), { reserved: s >= 300 && s % 15 === 0 ? 49 : 69 }),
    )
    const fault = firstFault(turns)
    expect(fault.second).toBeLessThanOrEqual(300 + 2 * MINUTES)
    expect(statesOf(turns).at(-1)).toBe('faulty warning')
    const last = turns.findLast(({ state }) => state === 'faulty')
    expect(last?.verdict).toContain('Process python3 (4242) of container trainer')
    expect(last?.verdict).toMatch(/gave \d+(?:\.\d{1,2})? GiB back/)
    expect(last?.facts?.retries).toBeGreaterThanOrEqual(5)
    expect(last?.facts?.reserved_bytes).toBeGreaterThan(40 * GIB)
  })

  test('is information while it is seldom, and a warning when it is often', () => {
    const seldom = watch(allocatorRetryStorm, 30 * MINUTES, (s) => trainer(Math.floor(s / 100)))
    expect(statesOf(seldom)).toEqual(['faulty info'])
    const often = watch(allocatorRetryStorm, 30 * MINUTES, (s) => trainer(Math.floor(s / (s < 900 ? 100 : 20))))
    expect(statesOf(often)).toEqual(['faulty info', 'faulty warning'])
  })

  test('advises growing segments only to a process without them', () => {
    const advice = (expandable: boolean): string =>
      JSON.stringify(firstFault(watch(allocatorRetryStorm, 10 * MINUTES, (s) => trainer(Math.floor(s / 20), { expandable }))).remedies)
    expect(advice(false)).toContain('expandable_segments:True')
    expect(advice(true)).not.toContain('expandable_segments')
  })

  test('is over after ten quiet minutes that were seen, and when the process ends; not while the probe is silent', () => {
    const storm = (s: number): number => Math.min(30, Math.floor(s / 20))
    expect(statesOf(watch(allocatorRetryStorm, 30 * MINUTES, (s) => trainer(storm(s))))).toContain('healthy')
    const unseen = watch(allocatorRetryStorm, 60 * MINUTES, (s) =>
      s < 11 * MINUTES ? trainer(storm(s)) : { processes: [{ pid: 4242, container: 'trainer', holds: 70 }] },
    )
    expect(statesOf(unseen)).not.toContain('healthy')
    const ended = watch(allocatorRetryStorm, 20 * MINUTES, (s) => (s < 10 * MINUTES ? trainer(storm(s)) : { processes: [{ pid: 9, holds: 1 }] }))
    expect(ended.at(-1)).toMatchObject({ state: 'healthy', why: 'the process has ended' })
  })
})
