// Throttling and the power brake: what holds a card back, distinguished from what is usual, with the speed that it costs.
import { describe, expect, test } from 'vitest'
import { powerBrake } from '../../../agent/diagnosis/detectors/power-brake.ts'
import { throttling } from '../../../agent/diagnosis/detectors/throttling.ts'
import { faults, IDLE, reason, story, watch, WELL, type Values } from './hardware-scene.ts'

const SLOW = { 'gpu_clock_hertz domain=sm': 990e6 }
const during = (from: number, to: number, values: Values) => (second: number) => [second >= from && second < to ? values : {}]

describe('throttling', () => {
  test.each<[name: string, values: Values, severity: string, title: RegExp]>([
    ['thermal slowdown by the driver', { [reason('sw_thermal_slowdown')]: 1, ...SLOW }, 'warning', /thermally throttled at \d+ °C$/],
    [
      'thermal slowdown because of the memory',
      { [reason('sw_thermal_slowdown')]: 1, gpu_memory_temperature_celsius: 96, ...SLOW },
      'warning',
      /thermally throttled, memory at 96 °C$/,
    ],
    [
      'thermal slowdown by the hardware',
      { [reason('hw_thermal_slowdown')]: 1, [reason('hw_slowdown')]: 1, ...SLOW },
      'critical',
      /thermally throttled by its hardware at \d+ °C$/,
    ],
    ['a hardware slowdown that says no more', { [reason('hw_slowdown')]: 1, ...SLOW }, 'critical', /slowed down by its hardware$/],
    ['memory as hot as it may be', { gpu_memory_temperature_celsius: 95 }, 'warning', /: memory too hot at 95 °C$/],
    [
      'with MIG: no utilization, but engines at work',
      { gpu_utilization_ratio: undefined, 'gpu_gpm_engine_active_ratio gi=1': 0.9, [reason('sw_thermal_slowdown')]: 1 },
      'warning',
      /thermally throttled at \d+ °C$/,
    ],
    [
      'neither utilization nor engines: the driver does not call it idle',
      { gpu_utilization_ratio: undefined, [reason('sw_thermal_slowdown')]: 1 },
      'warning',
      /thermally throttled at \d+ °C$/,
    ],
  ])('%s: told within three seconds, over thirty seconds after its end', (_, values, severity, title) => {
    const turns = watch(throttling, 80, during(10, 30, values))
    expect(story(turns)).toEqual([`11 faulty ${severity}`, '60 healthy'])
    expect(faults(turns)[0]?.title).toMatch(title)
  })

  test.each<[name: string, values: Values]>([
    ['a power limit that somebody lowered, and 45 % of the clock', { gpu_power_limit_watts: 300, 'gpu_clock_hertz domain=sm': 900e6 }],
    ['the default limit, and less than any base clock', { 'gpu_clock_hertz domain=sm': 600e6 }],
  ])('%s: a power cap that is not usual, told after ten seconds more', (_, values) => {
    const turns = watch(throttling, 80, during(10, 40, values))
    expect(story(turns)).toEqual(['21 faulty warning', '70 healthy'])
    expect(faults(turns)[0]).toMatchObject({ title: expect.stringContaining('power limit'), facts: { active_reasons: ['sw_power_cap'] } })
  })

  const HOT = { gpu_memory_temperature_celsius: 95 }
  const HELD_BACK = { ...HOT, [reason('sw_thermal_slowdown')]: 1, ...SLOW }
  const followed = (tell: (second: number) => Values) =>
    faults(
      watch(
        throttling,
        90,
        (second) => [second < 10 ? {} : tell(second)],
        {},
        ({ title = '', verdict = '' }) => `${title} ${verdict}`,
      ),
    )

  test('a slowdown that comes and goes stays what the incident is about, beside memory that is hot all the time', () => {
    const reported = followed((second) => (second % 20 < 15 ? HOT : HELD_BACK))
    const since = reported.findIndex(({ facts }) => facts?.active_reasons?.length === 2)
    expect(reported.slice(0, since).map(({ title }) => title)).toEqual(['GPU 0: memory too hot at 95 °C'])
    expect(new Set(reported.slice(since).map(({ title }) => title))).toEqual(new Set(['GPU 0: thermally throttled, memory at 95 °C']))
    expect(reported.slice(since).map(({ verdict }) => /the driver's thermal slowdown (is on|was on a moment ago)/.exec(verdict ?? '')?.[1])).toEqual(
      reported.slice(since).map((_, at) => (at % 2 === 0 ? 'is on' : 'was on a moment ago')),
    )
  })

  test('what has not held for thirty seconds is not said any more', () => {
    const reported = followed((second) => (second >= 30 ? HOT : HELD_BACK))
    expect(reported.map(({ second, title }) => [second, title])).toEqual([
      [11, 'GPU 0: thermally throttled, memory at 95 °C'],
      [30, 'GPU 0: thermally throttled, memory at 95 °C'],
      [60, 'GPU 0: memory too hot at 95 °C'],
    ])
  })

  test('says what it costs, how hot it is, and whom it concerns', () => {
    const turns = watch(
      throttling,
      90,
      during(60, 90, { [reason('sw_thermal_slowdown')]: 1, gpu_temperature_celsius: 90, 'gpu_clock_hertz domain=sm': 1_053e6 }),
    )
    const [fault] = faults(turns)
    expect(fault?.facts).toMatchObject({
      active_reasons: ['sw_thermal_slowdown'],
      temperature_celsius: 90,
      temperature_limit_celsius: 89,
      sm_clock_hertz: 1_053e6,
      sm_clock_before_hertz: 1_755e6,
      sm_clock_max_hertz: 1_980e6,
      speed_loss_ratio: 0.4,
      affected: ['process python (4242) of container trainer'],
    })
    expect(fault?.verdict).toContain('GPU 0 (NVIDIA H100 80GB HBM3)')
    expect(fault?.verdict).toContain('90 °C hot (its hardware slows it down at 89 °C)')
    expect(fault?.verdict).toContain('1053 MHz instead of 1755 MHz before (its maximum is 1980 MHz): about 40 % of its speed is lost')
    expect(fault?.verdict).toContain('container trainer')
  })

  test('a clock that is as high as before has lost nothing', () => {
    const [fault] = faults(watch(throttling, 90, during(60, 90, { [reason('sw_thermal_slowdown')]: 1 })))
    expect(fault?.facts).toMatchObject({ speed_loss_ratio: 0 })
    expect(fault?.verdict).toContain('At the moment its SM clock is as high as before (1755 MHz).')
    expect(fault?.verdict).not.toContain('0 %')
  })

  test.each<[name: string, tell: (second: number) => readonly (Values | 'gone')[]]>([
    ['a busy card under its power limit', () => [{}]],
    ['a card of 70 W at 37 % of its highest clock: its base clock', () => [{ 'gpu_clock_hertz domain=sm': 585e6, 'gpu_clock_max_hertz domain=sm': 1_590e6 }]],
    ['a power limit lowered to save power, at little cost', () => [{ gpu_power_limit_watts: 500, 'gpu_clock_hertz domain=sm': 1_400e6 }]],
    ['application clocks and sync boost', () => [{ [reason('sync_boost')]: 1, ...SLOW }]],
    ['thermal bits on an idle card', () => [{ ...IDLE, [reason('sw_thermal_slowdown')]: 1 }]],
    ['a slowdown of one reading, as at a change of the P-state', (second) => [second % 20 < 1 ? { [reason('hw_slowdown')]: 1 } : {}]],
    ['the power brake, which is a kind of its own', () => [{ [reason('hw_slowdown')]: 1, [reason('hw_power_brake_slowdown')]: 1, ...SLOW }]],
    ['memory one degree below its limit', () => [{ gpu_memory_temperature_celsius: 94 }]],
    ['power capped while the clock goes up from idle', (second) => [second % 30 < 5 ? { 'gpu_clock_hertz domain=sm': 345e6 } : {}]],
    ['nothing can be read', () => [Object.fromEntries(Object.keys(WELL).map((key) => [key, undefined]))]],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(throttling, 120, tell))).toEqual([])
  })

  test('neither silence nor the end of the load heals it; cool bits do', () => {
    const hot = { [reason('hw_thermal_slowdown')]: 1 }
    const silent = watch(throttling, 300, (second) => [second < 10 ? hot : 'gone'])
    expect(story(silent)).toEqual(['1 faulty critical'])
    const idle = watch(throttling, 300, (second) => [second < 10 ? hot : { ...IDLE, ...(second < 100 ? hot : {}) }])
    expect(story(idle)).toEqual(['1 faulty critical', '190 healthy'])
  })

  test('hot memory that cannot be read any more has not cooled', () => {
    const turns = watch(throttling, 100, (second) => [{ gpu_memory_temperature_celsius: second < 10 ? 99 : undefined }])
    expect(story(turns)).toEqual(['1 faulty warning'])
  })

  test('a reading that is missing now and then does not start the clock again', () => {
    const turns = watch(throttling, 60, (second) => [second % 4 === 1 ? 'gone' : { [reason('sw_thermal_slowdown')]: 1 }])
    expect(story(turns)).toEqual(['3 faulty warning'])
  })

  test('one card of two', () => {
    const turns = watch(throttling, 20, () => [{}, { [reason('sw_thermal_slowdown')]: 1 }])
    expect([story(turns, 0), story(turns, 1)]).toEqual([[], ['1 faulty warning']])
  })

  test('after a restart of the agent in the middle: compared with the highest clock, and health is told', () => {
    const turns = watch(throttling, 60, (second) => [second < 20 ? { [reason('sw_thermal_slowdown')]: 1, ...SLOW } : {}])
    expect(faults(turns)[0]?.facts).toMatchObject({ speed_loss_ratio: 0.5 })
    expect(faults(turns)[0]?.facts).not.toHaveProperty('sm_clock_before_hertz')
    expect(watch(throttling, 60, () => [{}])).toEqual([{ second: 30, gpu: 0, state: 'healthy' }])
  })
})

describe('the power brake', () => {
  const brake = { [reason('hw_power_brake_slowdown')]: 1, [reason('hw_slowdown')]: 1 }

  test('is told within three seconds, with its cost, and is over ten seconds after its end', () => {
    const turns = watch(powerBrake, 90, during(50, 70, { ...brake, 'gpu_clock_hertz domain=sm': 877.5e6, gpu_power_watts: 300 }))
    expect(story(turns)).toEqual(['51 faulty critical', '80 healthy'])
    expect(faults(turns)[0]?.facts).toMatchObject({ speed_loss_ratio: 0.5, power_watts: 300, power_limit_watts: 700 })
    expect(faults(turns)[0]?.verdict).toContain('container trainer')
  })

  test('on an idle card it is a warning', () => {
    expect(story(watch(powerBrake, 20, () => [{ ...IDLE, ...brake }]))).toEqual(['1 faulty warning'])
  })

  test('quiet: other slowdowns, one reading of it, and no data', () => {
    expect(faults(watch(powerBrake, 60, () => [{ [reason('hw_slowdown')]: 1 }]))).toEqual([])
    expect(faults(watch(powerBrake, 60, (second) => [second % 10 < 1 ? brake : {}]))).toEqual([])
    expect(watch(powerBrake, 60, () => [{ [reason('hw_power_brake_slowdown')]: undefined }])).toEqual([])
  })

  test('silence does not heal it', () => {
    expect(story(watch(powerBrake, 200, (second) => [second < 5 ? brake : 'gone']))).toEqual(['1 faulty critical'])
  })
})
