// One GPU of a job that is slower than its peers, told from uneven work, jobs that differ, and cards that rest.
import { describe, expect, test } from 'vitest'
import { stragglerGpu } from '../../../agent/diagnosis/detectors/straggler-gpu/straggler-gpu.ts'
import { faults, firstFault, story, watch, type Card, type Moment } from './use-scene.ts'

/** Clocks of good cards differ by one or two steps of 15 MHz, and waver. */
const clock = (index: number, second: number): number => 1_725 + 15 * ((index + second) % 3)
const rank = (index: number, second: number, more: Partial<Card> = {}): Card => ({
  jobs: [{ pid: 100 + index, gib: 60 + index * 0.2, container: 'trainer' }],
  smMhz: clock(index, second),
  utilization: 0.99,
  ...more,
})
const slow: Partial<Card> = { smMhz: 1_200, temperature: 88, throttle: ['sw_thermal_slowdown'] }
/** Eight ranks, of which the fifth is different. */
const eight = (second: number, more: Partial<Card> = {}, count = 8): Moment => ({
  cards: Array.from({ length: count }, (_, index) => rank(index, second, index === 4 % count ? more : {})),
})

describe('a straggler', () => {
  test('of eight: told after some minutes, with its clock beside that of the others; over when it keeps up again', () => {
    const turns = watch(stragglerGpu, 1_200, (second) => eight(second, second >= 120 && second < 800 ? slow : {}))
    const [reported, over] = story(turns)
    expect(reported).toMatch(/^3\d\d faulty warning$/)
    expect(over).toMatch(/^(8|9)\d\d healthy$/)
    expect(firstFault(turns)).toMatchObject({
      about: { uuid: expect.stringMatching(/^GPU-00000004/), container: 'trainer' },
      facts: {
        gpus: ['0', '1', '2', '3', '4', '5', '6', '7'],
        jobs: ['container trainer'],
        active_reasons: ['sw_thermal_slowdown'],
        temperature_celsius: 88,
        temperature_peers_celsius: 60,
      },
    })
    expect(firstFault(turns).title).toMatch(/^GPU 4 is 3\d % slower than the other 7 of container trainer$/)
    expect(firstFault(turns).verdict).toContain('It is 88 °C hot, the others 60 °C. The driver gives as reason: sw_thermal_slowdown.')
    expect(new Set(faults(turns).map(({ key }) => key)).size, 'only this one').toBe(1)
  })

  test.each<[name: string, more: Partial<Card>, says: RegExp]>([
    ['clocks that somebody locked', { smMhz: 1_305 }, /its clocks may be locked/],
    ['a power limit that only this one has', { smMhz: 1_305, throttle: ['sw_power_cap'], powerLimit: 400 }, /power limit is 400 W, that of the others 700 W/],
  ])('%s', (_, more, says) => {
    expect(firstFault(watch(stragglerGpu, 500, (second) => eight(second, more))).verdict).toMatch(says)
  })

  test('of three ranks of a Slurm job', () => {
    const cards = (second: number): readonly Card[] =>
      [0, 1, 2].map((index) => ({ ...rank(index, second, index === 1 ? slow : {}), jobs: [{ pid: index + 1, gib: 30, slurm: '17' }] }))
    expect(firstFault(watch(stragglerGpu, 500, (second) => ({ cards: cards(second) })))).toMatchObject({
      facts: { jobs: ['Slurm job 17'], gpus: ['0', '1', '2'] },
    })
  })

  test.each<[name: string, tell: (second: number) => Moment]>([
    ['eight that are alike', (second) => eight(second)],
    ['six percent slower', (second) => eight(second, { smMhz: 1_635 })],
    [
      'slower by twelve percent, but so do the others differ',
      (second) => ({
        cards: Array.from({ length: 8 }, (_, index) => rank(index, second, { smMhz: [1_755, 1_500, 1_700, 1_560, 1_410, 1_620, 1_740, 1_480][index] ?? 0 })),
      }),
    ],
    ['held by the same power limit as the others: its work is heavier', (second) => eight(second, { smMhz: 1_305, throttle: ['sw_power_cap'] })],
    ['two of a job: no majority', (second) => eight(second, slow, 2)],
    ['two minutes of heat', (second) => eight(second, second % 400 < 120 ? slow : {})],
    [
      'a card of another job',
      (second) => ({
        cards: [0, 1, 2, 3].map((index) => rank(index, second, index === 3 ? { ...slow, jobs: [{ pid: 9, gib: 60, container: 'server' }] } : {})),
      }),
    ],
    [
      'stages of a pipeline: unequal memory',
      (second) => ({
        cards: [0, 1, 2].map((index) =>
          rank(index, second, { jobs: [{ pid: index, gib: 20 + 20 * index, container: 'trainer' }], ...(index === 0 ? slow : {}) }),
        ),
      }),
    ],
    ['a job that rests', (second) => ({ cards: [0, 1, 2, 3].map((index) => rank(index, second, { utilization: 0.1, ...(index === 0 ? slow : {}) })) })],
    [
      'a rank that shares its card',
      (second) =>
        eight(second, {
          ...slow,
          jobs: [
            { pid: 104, gib: 60, container: 'trainer' },
            { pid: 9, gib: 18, container: 'eval' },
          ],
        }),
    ],
    ['nothing can be read', () => ({ cards: Array.from({ length: 8 }, () => 'gone' as const) })],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(stragglerGpu, 1_300, tell))).toEqual([])
  })

  test('silence does not heal it; the end of the job does', () => {
    const silent = watch(stragglerGpu, 1_000, (second) => (second < 500 ? eight(second, slow) : { cards: ['gone'] }))
    expect(story(silent)).toHaveLength(1)
    const ended = watch(stragglerGpu, 1_000, (second) =>
      second < 500 ? eight(second, slow) : { cards: Array.from({ length: 8 }, () => ({ utilization: 0 })) },
    )
    expect(ended.at(-1)).toMatchObject({ state: 'healthy', why: 'the job no longer runs on it' })
    expect(story(ended)).toHaveLength(2)
  })

  test('two samples of a hundred missing change nothing', () => {
    const turns = watch(stragglerGpu, 700, (second) => (second % 50 === 5 ? { cards: ['gone'] } : eight(second, slow)))
    expect(faults(turns)).toHaveLength(1)
  })
})
