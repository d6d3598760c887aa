// Fragmentation: what stays stranded for ten minutes of a nearly full card is reported, a warm cache and a roomy card are not.
import { describe, expect, test } from 'vitest'
import { fragmentationPressure } from '../../../agent/diagnosis/detectors/fragmentation-pressure/fragmentation-pressure.ts'
import { firstFault, statesOf, watch, type Moment, type Probe, type Process } from './memory-scene.ts'

const MINUTES = 60
const trainer = (probe: Probe, more: Partial<Process> = {}): Moment => ({
  processes: [{ pid: 4242, container: 'trainer', holds: probe.reserved + 0.5, probe, ...more }],
})
/** Steps of 20 s: the free pieces that the allocator holds rise and fall between `low` and `high`. */
const swing = (second: number, low: number, high: number): number => (second % 20 < 5 ? low : high)

type Case = { readonly name: string; readonly tell: (second: number) => Moment }
const quiet: readonly Case[] = [
  { name: 'a warm cache: much reserved, whole segments', tell: () => trainer({ active: 20, reserved: 78 }) },
  { name: 'pieces that each step uses again', tell: (s) => trainer({ active: 40, reserved: 76, split: swing(s, 0.5, 30) }) },
  { name: 'nearly: 9 % for good', tell: (s) => trainer({ active: 40, reserved: 76, split: swing(s, 7, 30), retries: s > 100 ? 1 : 0 }) },
  { name: 'nearly: 20 %, but each nine minutes it is used', tell: (s) => trainer({ active: 40, reserved: 76, split: s % 540 < 5 ? 2 : 16, retries: 3 }) },
  {
    name: 'nearly: 15 % at each flush, used between',
    tell: (s) => trainer({ active: 40, reserved: 76, split: s % 300 < 5 ? 12 : swing(s, 1, 12), retries: Math.floor(s / 300) }),
  },
  { name: '20 % stranded of a card with much room', tell: () => trainer({ active: 10, reserved: 30, split: 16 }) },
  { name: 'expandable: much unused, no flush ever', tell: () => trainer({ active: 40, reserved: 76, expandable: true }) },
  { name: 'expandable: one flush alone', tell: (s) => trainer({ active: 40, reserved: 76, expandable: true, retries: s < 300 ? 0 : 1 }) },
  { name: 'another backend, whose figures mean nothing', tell: () => trainer({ active: 40, reserved: 79, split: 20, backend: 'cudaMallocAsync' }) },
  { name: 'no probe', tell: () => ({ processes: [{ pid: 4242, container: 'trainer', holds: 79 }] }) },
  { name: 'a card that nobody reads', tell: () => ({ ...trainer({ active: 40, reserved: 76, split: 20, retries: 5 }), blind: true }) },
]
const firing: readonly Case[] = [
  { name: 'no flush yet, little left', tell: (s) => trainer({ active: 40, reserved: 76, split: swing(s, 14, 30) }) },
  { name: 'a flush has shown it', tell: (s) => trainer({ active: 20, reserved: 60, split: swing(s, 9, 20), retries: s < 200 ? 0 : 1 }) },
  { name: 'in a fraction that is nearly used up', tell: (s) => trainer({ active: 20, reserved: 38, split: swing(s, 8, 12), limit: 40 }) },
  {
    name: 'beside a neighbour: its share of what it can use',
    tell: (s) => ({ processes: [...trainer({ active: 20, reserved: 38, split: swing(s, 6, 9) }).processes, { pid: 7, holds: 38 }] }),
  },
  {
    name: 'expandable: each flush leaves it',
    tell: (s) => trainer({ active: 50, reserved: 66, expandable: true, retries: Math.floor(s / 240) }),
  },
  {
    name: 'a quarter at each flush, though it is used between',
    tell: (s) => trainer({ active: 40, reserved: 76, split: s % 300 < 5 ? 20 : swing(s, 1, 20), retries: Math.floor(s / 300) }),
  },
  {
    name: 'with samples missing now and then',
    tell: (s) =>
      s % 300 < 40
        ? { ...trainer({ active: 0, reserved: 0 }), processes: [{ pid: 4242, container: 'trainer', holds: 76.5 }] }
        : trainer({ active: 40, reserved: 76, split: 16 }),
  },
]

describe('fragmentation pressure', () => {
  test.each(quiet)('says nothing of $name', ({ tell }) => {
    expect(statesOf(watch(fragmentationPressure, 40 * MINUTES, tell)).filter((said) => said.startsWith('faulty'))).toEqual([])
  })

  test.each(firing)('tells of $name', ({ tell }) => {
    const fault = firstFault(watch(fragmentationPressure, 40 * MINUTES, tell))
    expect(fault.severity).toBe('warning')
    // Ten minutes of samples come first.
    expect(fault.second).toBeGreaterThanOrEqual(10 * MINUTES)
  })

  test('gives figures and the setting that helps, and says that emptying the cache does not', () => {
    const fault = firstFault(
      watch(fragmentationPressure, 20 * MINUTES, (s) => trainer({ active: 40, reserved: 76, split: swing(s, 16, 30), retries: s < 200 ? 0 : 2 })),
    )
    expect(fault.title).toContain('process python3 (4242) of container trainer')
    expect(fault.verdict).toContain('16 GiB (20 % of the 80 GiB that it can use on GPU 0)')
    expect(fault.verdict).toContain('flush its cache 2 times')
    expect(fault.facts).toMatchObject({ stranded_bytes: 16 * 2 ** 30, stranded_ratio: 0.2, retries: 2 })
    const advice = JSON.stringify(fault.remedies)
    expect(advice).toContain('expandable_segments:True')
    expect(advice).toContain('empty_cache() does not help')
  })

  test('advises no expandable segments to a process that has them, and gives its figure as a bound', () => {
    const fault = firstFault(watch(fragmentationPressure, 40 * MINUTES, firing[4]?.tell ?? (() => ({ processes: [] }))))
    expect(JSON.stringify(fault.remedies)).not.toContain('expandable_segments')
    expect(fault.verdict).toContain('up to 16 GiB')
  })

  test('is over when the pieces are used again, and when the process ends; not when its probe falls silent', () => {
    const stuck: Probe = { active: 40, reserved: 76, split: 16 }
    const healed = watch(fragmentationPressure, 40 * MINUTES, (s) => trainer(s < 20 * MINUTES ? stuck : { ...stuck, split: 1 }))
    expect(statesOf(healed)).toEqual(['faulty warning', 'healthy'])
    const ended = watch(fragmentationPressure, 30 * MINUTES, (s) => (s < 20 * MINUTES ? trainer(stuck) : { processes: [{ pid: 9, holds: 1 }] }))
    expect(statesOf(ended)).toEqual(['faulty warning', 'healthy'])
    expect(ended.at(-1)?.why).toBe('the process has ended')
    const silent = watch(fragmentationPressure, 60 * MINUTES, (s) =>
      s < 20 * MINUTES ? trainer(stuck) : { processes: [{ pid: 4242, container: 'trainer', holds: 76.5 }] },
    )
    expect(statesOf(silent)).toEqual(['faulty warning'])
  })
})
