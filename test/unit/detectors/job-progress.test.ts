// A job that becomes slower, or does not move, told from what trainings do all day: evaluations, checkpoints, epochs, uneven steps.
import { describe, expect, test } from 'vitest'
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import { jobSlowdown } from '../../../agent/diagnosis/detectors/job-slowdown.ts'
import { progressStalled } from '../../../agent/diagnosis/detectors/progress-stalled.ts'
import { createJob, type JobScene } from './job-scene.ts'
import { turnsOf, type Turn } from './turns.ts'

const HOUR = 3_600
const watch = (detector: DetectorDefinition, seconds: number, scene: JobScene): readonly Turn[] => turnsOf(detector, seconds, createJob(scene))
const faults = (turns: readonly Turn[]): readonly Turn[] => turns.filter(({ state }) => state === 'faulty')
/** Each 20 minutes an evaluation of two minutes, then half a minute of a checkpoint. */
const pauses = (second: number): boolean => second % 1_200 >= 1_050
/** Steps differ by a tenth. */
const uneven = (second: number): number => 1 + 0.1 * Math.sin(second * 7.7)
const throttled = { smMhz: 1_300, temperature: 88, throttle: ['sw_thermal_slowdown'] }

describe('eight hours with an evaluation and a checkpoint each 20 minutes', () => {
  test('no slow-down and no stall', () => {
    const scene = { stepSeconds: uneven, pauses }
    expect(faults(watch(jobSlowdown, 8 * HOUR, scene))).toEqual([])
    expect(faults(watch(progressStalled, 8 * HOUR, scene))).toEqual([])
  })
  test('throttling by a quarter in the middle: told within 20 steps, with its reason, and over with it', () => {
    const slow = (second: number): boolean => second >= 4 * HOUR && second < 5 * HOUR
    const turns = watch(jobSlowdown, 8 * HOUR, {
      pauses,
      stepSeconds: (second) => uneven(second) / (slow(second) ? 0.75 : 1),
      card: (second) => (slow(second) ? throttled : {}),
    })
    const [reported, ...others] = faults(turns)
    expect(others).toEqual([])
    expect(reported).toMatchObject({ about: { container: 'train' }, facts: { job: 'train', active_reasons: ['sw_thermal_slowdown'], gpus: ['0'] } })
    expect(reported?.title).toBe('train became slower: 1.3 times as long a step, GPU 0 is thermally throttled')
    const steps = ((reported?.second ?? Infinity) - 4 * HOUR) * 0.75
    expect(steps).toBeLessThanOrEqual(20)
    expect(turns.find(({ second, state }) => second > 5 * HOUR && state === 'healthy')?.second).toBeLessThan(5 * HOUR + 60)
  })
})

describe('slower', () => {
  test.each([
    ['by the clock', { smMhz: 1_300 }, 'Cause: the clock of GPU 0 fell from 1755 to 1300 MHz.'],
    ['by its input', { utilization: 0.5 }, 'Cause: GPU 0 waits: its utilization fell from 97 to 50 %, so the input or the host holds it back.'],
    ['and nobody knows why', {}, 'Cause unknown: none of its GPUs is throttled or waits more than before.'],
    [
      'a power cap that was there before is no reason',
      { throttle: ['sw_power_cap'] },
      'Cause unknown: none of its GPUs is throttled or waits more than before.',
    ],
  ])('%s', (_, card, cause) => {
    const [reported] = faults(
      watch(jobSlowdown, 1_500, { stepSeconds: (second) => (second < 1_000 ? 1 : 1.5), card: (second) => (second < 1_000 ? {} : card) }),
    )
    expect(reported?.verdict).toContain('A step of train takes 1.5')
    expect(reported?.verdict).toContain(cause)
  })
  test.each([
    ['warm-up', (second: number): number => (second < 60 ? 5 : 1)],
    ['steps of two lengths', (second: number): number => (second % 60 < 40 ? 1 : 1.6)],
  ])('not: %s', (_, stepSeconds) => {
    expect(faults(watch(jobSlowdown, 3_000, { stepSeconds }))).toEqual([])
  })
})

describe('stalled', () => {
  test('told after ten minutes, over with the next step', () => {
    const turns = watch(progressStalled, 3_000, { stepSeconds: () => 2, pauses: (second) => second >= 1_000 && second < 2_500 })
    const [reported, ...others] = faults(turns)
    expect(others).toEqual([])
    expect(reported?.second).toBeGreaterThanOrEqual(1_590)
    expect(reported?.second).toBeLessThanOrEqual(1_620)
    expect(reported?.title).toBe('train has been at step 500 for 10 min')
    expect(turns.at(-1)).toMatchObject({ state: 'healthy' })
  })
  test('a pause as long as those before is none', () => {
    expect(faults(watch(progressStalled, 12_000, { stepSeconds: () => 2, pauses: (second) => second % 2_000 >= 1_500 }))).toEqual([])
  })
  test.each([
    ['it has done all its steps', { stepSeconds: (): number => 1, steps: 100 }],
    ['its container has ended', { stepSeconds: (): number => 1, lives: (second: number): boolean => second < 500 }],
  ])('not when %s', (_, scene) => {
    expect(faults(watch(progressStalled, 3_000, scene))).toEqual([])
  })
})
