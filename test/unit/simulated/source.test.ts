// The simulated source under a clock: its past at the start, then a second at a time.
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../agent/config/load.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Every, Log } from '../../../agent/model/source.ts'
import { createSimulatedSource, simulatedOptions } from '../../../agent/sources/simulated.ts'
import { START } from './simulate.ts'

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }

async function started(backfillMs: number) {
  const events: Event[] = []
  let fire: (t: number) => void = () => {
    throw new Error('the source asked for no timer')
  }
  let stopped = false
  const every: Every = (periodMs, run) => {
    expect(periodMs).toBe(1_000)
    fire = (t) => void run(t)
    return () => (stopped = true)
  }
  const source = createSimulatedSource({ scenario: 'healthy', seed: 1, backfillMs, now: () => START + 345 })
  await source.start({ emit: (event) => events.push(event), every, log: silent })
  const seconds = (): readonly number[] => [...new Set(events.map(({ t }) => t))]
  return { events, seconds, fire: (t: number) => fire(t), source, isStopped: () => stopped }
}
const grid = (from: number, count: number): readonly number[] => Array.from({ length: count }, (_, index) => from + index * 1_000)

describe('simulated source', () => {
  test('tells its past in order, second by second up to now', async () => {
    const { seconds } = await started(60_000)
    expect(seconds()).toEqual(grid(START - 60_000, 61))
  })

  test('plays as much of a past as simulate.past says, 15 minutes where it says nothing', async () => {
    const played = async (env: Readonly<Record<string, string>>): Promise<number> => {
      const { config } = await loadConfig({ env: { WARPWATCH_SIMULATE__SCENARIO: 'healthy', ...env }, cwd: tmpdir() })
      const seconds = new Set<number>()
      await createSimulatedSource(simulatedOptions(config)).start({ emit: ({ t }) => seconds.add(t), every: () => () => {}, log: silent })
      return seconds.size
    }
    const pasts = [{ WARPWATCH_SIMULATE__PAST: '0s' }, { WARPWATCH_SIMULATE__PAST: '1m' }, {}]
    expect(await Promise.all(pasts.map(played))).toEqual([1, 61, 901])
  })

  test('goes on by the clock; a second missed is told late, a second told is not told again', async () => {
    const { seconds, fire } = await started(0)
    for (const t of [1_000, 2_000, 5_000, 5_000]) fire(START + t)
    expect(seconds()).toEqual(grid(START, 6))
  })

  test('after a long pause it tells only the newest seconds', async () => {
    const { seconds, fire } = await started(0)
    fire(START + 3_600_000)
    expect(seconds()).toEqual([START, ...grid(START + 3_591_000, 10)])
  })

  test('speaks as the real sources do', async () => {
    const { events } = await started(0)
    expect([...new Set(events.flatMap((event) => (event.type === 'scrape' ? [event.source] : [])))]).toEqual([
      'gpu',
      'process-details',
      'containers',
      'host',
      'allocator',
    ])
  })

  test('stops', async () => {
    const { source, isStopped } = await started(0)
    await source.stop()
    expect(isStopped()).toBe(true)
  })
})
