// Who runs the simulated processes: each that is listed, since one start, until it ends.
import { expect, test } from 'vitest'
import { scrapesOf, simulate, START, valuesBy, type SimulatedSecond } from './simulate.ts'

const details = (reported: SimulatedSecond) => scrapesOf(reported).filter(({ source }) => source === 'process-details')
const starts = (reported: SimulatedSecond): ReadonlyMap<string, number> => valuesBy(reported, 'process_start_timestamp_seconds', 'pid')

test.each(['healthy', 'slurm'])('%s: user, command and start of each process', (scenario) => {
  const [first] = simulate(scenario, 1)
  if (first === undefined) throw new Error('no second was simulated')
  const said = details(first).flatMap(({ readings }) => readings.map(({ series: { labels } }) => labels))
  expect(new Set(said.map(({ pid }) => pid)).size).toBe(18)
  expect(said.filter(({ user }) => user !== undefined).every(({ user, command }) => user !== '' && command !== undefined)).toBe(true)
  expect([...starts(first).values()].every((second) => second < START / 1000)).toBe(true)
})

test('a start stays the same at any speed, and one that is started again has a start of its own', () => {
  for (const speed of [1, 5]) {
    const story = simulate('oom-leak', 400, { speed }).filter((reported) => details(reported).length > 0)
    const known = new Map<string, number>()
    const moved: unknown[] = []
    for (const reported of story)
      for (const [pid, second] of starts(reported)) {
        const before = known.get(pid) ?? second
        if (Math.abs(before - second) > 1) moved.push({ pid, before, second })
        known.set(pid, before)
      }
    expect(moved).toEqual([])
    expect(known.size).toBeGreaterThan(18)
  }
})
