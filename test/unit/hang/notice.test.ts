// When a job that has stopped is looked at, and what of that is an alarm: by its own rhythm, over hours.
import { describe, expect, test } from 'vitest'
import { createSpinWatch, type GpuLoad } from '../../../agent/hang/notice/spin.ts'
import { createStandstill, type Found } from '../../../agent/hang/notice/standstill.ts'

const AFTER = 30_000
const HOUR = 3_600_000
const stuck: Found = { verdict: 'hang', confidence: 'likely', place: 'train.py wait' }

/** A job second by second: when it says something, what a look finds. The times at which it is said to hang. */
function alarms(ms: number, speaks: (t: number) => boolean, look: (t: number) => Found, looks: number[] = []): readonly number[] {
  const still = createStandstill(AFTER)
  const found: number[] = []
  for (let t = 0; t <= ms; t += 1_000) {
    if (speaks(t)) still.progressed(t)
    if (still.due(t) === undefined) continue
    looks.push(t)
    if (still.looked(t, look(t))) found.push(t)
  }
  return found
}

describe('a standstill', () => {
  test('of a job with steps each second is an alarm within a minute, after two looks that agree', () => {
    const looks: number[] = []
    const [first] = alarms(
      120_000,
      (t) => t <= 20_000,
      () => stuck,
      looks,
    )
    expect(looks[0]).toBe(50_000)
    expect((first ?? Infinity) - 20_000).toBeLessThanOrEqual(40_000)
  })
  test('that a library names is an alarm at the first look', () => {
    expect(
      alarms(
        120_000,
        (t) => t <= 20_000,
        () => ({ ...stuck, confidence: 'read' }),
      )[0],
    ).toBe(50_000)
  })
  test('at another place in each look is none', () => {
    expect(
      alarms(
        HOUR,
        (t) => t <= 20_000,
        (t) => ({ ...stuck, place: `train.py ${t}` }),
      ),
    ).toEqual([])
  })
  test('of a job with slow steps is looked at after three of them', () => {
    const looks: number[] = []
    alarms(
      800_000,
      (t) => t % 60_000 === 0 && t <= 600_000,
      () => stuck,
      looks,
    )
    expect(looks[0]).toBe(780_000)
  })
  test('before the rhythm of the job is known is not looked at', () => {
    const looks: number[] = []
    alarms(
      HOUR,
      (t) => t <= 2_000,
      () => stuck,
      looks,
    )
    expect(looks).toEqual([])
  })
  test('of eight hours with evaluations and checkpoints is none, and costs few looks', () => {
    const looks: number[] = []
    // Each 20 minutes an evaluation of two minutes, then 90 s of a checkpoint.
    const phase = (t: number): 'train' | 'evaluate' | 'save' => (t % 1_200_000 < 990_000 ? 'train' : t % 1_200_000 < 1_110_000 ? 'evaluate' : 'save')
    const found = alarms(
      8 * HOUR,
      (t) => phase(t) === 'train',
      (t) => ({ verdict: 'slow_phase', confidence: 'likely', place: phase(t) }),
      looks,
    )
    expect(found).toEqual([])
    expect(looks.length).toBeGreaterThan(24)
    expect(looks.length).toBeLessThanOrEqual(24 * 6)
  })
  test('where the job has stood before and gone on is one only after twice as long', () => {
    const place: Found = { verdict: 'hang', confidence: 'computed', place: 'train.py write' }
    // Once 40 s there; whoever looks at the first may be wrong. Then 70 s are nothing new, and 90 s are.
    const pause = (t: number): boolean => (t > 100_000 && t < 140_000) || (t > 300_000 && t < 370_000) || t > 600_000
    const found = alarms(
      900_000,
      (t) => !pause(t),
      () => place,
    )
    expect(found.filter((t) => t > 140_000 && t < 600_000)).toEqual([])
    expect(found.some((t) => t > 600_000)).toBe(true)
  })
})

describe('a GPU that spins', () => {
  const works: GpuLoad = { busy: 0.97, memory: 0.4, watts: 600, limitWatts: 700 }
  const spins: GpuLoad = { busy: 1, memory: 0, watts: 130, limitWatts: 700 }
  const see = (loads: readonly GpuLoad[]): readonly (boolean | undefined)[] => {
    const watch = createSpinWatch()
    return loads.map((load, i) => watch.see(i * 2_000, load)?.spins)
  }
  const many = (load: GpuLoad, count = 10): GpuLoad[] => Array.from({ length: count }, () => load)

  test('is said after ten seconds, and not while it works', () => {
    const said = see([...many(works), ...many(spins)])
    expect(said.slice(0, 15)).toEqual(many(works, 15).map(() => false))
    expect(said.slice(15)).toEqual(many(works, 5).map(() => true))
  })
  test.each([
    ['decodes, which reads memory', { busy: 1, memory: 0.7, watts: 150, limitWatts: 700 }],
    ['idles', { busy: 0, memory: 0, watts: 70, limitWatts: 700 }],
    ['computes in its caches', { busy: 1, memory: 0.01, watts: 500, limitWatts: 700 }],
  ])('not one that %s', (_, load) => {
    expect(see([...many(works), ...many(load)]).includes(true)).toBe(false)
  })
  test('with its least memory traffic since then: one look may show 1 % for the same wait', () => {
    const watch = createSpinWatch()
    const said = [0.01, 0, 0.01].map((memory, i) => watch.see(i * 2_000, { ...spins, memory })?.memory)
    expect(said).toEqual([0.01, 0, 0])
  })
  test('is not told without its power', () => {
    expect(see(many({ busy: 1, memory: 0 }))).toEqual(many(works).map(() => undefined))
  })
})
