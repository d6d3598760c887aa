// What the reader says of a run beside its figures: lost to NaN, slower for good, how long it will take.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}
const steps = (count: number, line: (step: number) => string): readonly string[] => Array.from({ length: count }, (_, at) => line(at + 1))
const clock = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')

describe('NaN', () => {
  test('a loss that is not a number twice in a row, with the step and the last good value', () => {
    expect(read(['step 1 loss 2.5', 'step 2 loss nan', 'step 3 loss nan'])).toMatchObject({ lost: true, lostRun: { since: 2, lastGood: 2.5 } })
  })
  test('a gradient that stays NaN while the loss is zero', () => {
    const line = "{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.5}"
    expect(read(["{'loss': 1.5, 'grad_norm': 2.0, 'epoch': 0.4}", line, line])?.lost).toBe(true)
  })
  test.each([
    ['one overflow of a loss scaler', ['step 1 loss 2.5', 'step 2 loss inf', 'Overflow, reducing loss scale to 32768', 'step 3 loss 2.4']],
    ['a gradient alone, once', ['step 1 loss 2.5 grad_norm nan', 'step 2 loss 2.4 grad_norm 1.0']],
    ['counters of skipped steps', steps(5, (step) => `iteration ${step}/9 | lm loss: 2.5 | number of nan iterations: ${step} |`)],
    ['a z-score that is not known', steps(4, (step) => `step ${step}/9 | loss 9.5 (+nanz)| norm 28.4 (+nanz)`)],
  ])('%s is none', (_, lines) => {
    expect(read(lines)?.lost).toBe(false)
  })
})

describe('slower', () => {
  const run = (seconds: (step: number) => number): Progress | undefined => read(steps(60, (step) => `step ${step}/1000 loss 2.5 step_time ${seconds(step)}`))
  test('twice as long for good: since when, and by how much', () => {
    const slowdown = run((step) => (step < 40 ? 0.5 : 1))?.slowdown
    expect([slowdown?.fromStep, slowdown?.factor]).toEqual([40, 2])
  })
  test.each([
    ['warm-up', (step: number) => (step < 6 ? 9 : 0.5)],
    ['an evaluation each tenth step', (step: number) => (step % 10 === 0 ? 40 : 0.5)],
    ['noise', (step: number) => 0.5 + ((step * 7919) % 100) / 400],
    ['a slow stretch that is over', (step: number) => (step > 20 && step < 40 ? 2 : 0.5)],
  ])('not: %s', (_, seconds) => {
    expect(run(seconds)?.slowdown).toBeUndefined()
  })
  const wide = (rates: readonly number[]): Progress | undefined =>
    read(rates.map((rate, at) => `Speed ${rate} samples/sec   Loss 2.5   Global Step: ${(at + 1) * 50}`))
  test('three lines of many steps each, all slower than any before', () => {
    expect(wide([1500, 1520, 1490, 1510, 1505, 900, 490, 500])?.slowdown?.fromStep).toBe(300)
  })
  test.each([
    ['two such lines', [1500, 1520, 1490, 1510, 1505, 490, 500]],
    ['three that are as slow as one before', [1500, 500, 1490, 1510, 1505, 490, 500, 480]],
  ])('not: %s', (_, rates) => {
    expect(wide(rates)?.slowdown).toBeUndefined()
  })
  test('out of the times of the lines where no rate is printed', () => {
    const at = (step: number): number => (step < 30 ? step * 5 : 150 + (step - 30) * 10)
    expect(read(steps(60, (step) => `${clock(at(step))} step ${step}/1000 loss 2.5`))?.slowdown?.factor).toBe(2)
  })
})

describe('time left', () => {
  test('as printed', () => {
    expect(read(['step 10/100 loss 2.5 eta: 0:03:00'])?.etaSeconds).toBe(180)
  })
  test('else from the steps left and the usual time of a step, with a range', () => {
    const progress = read(steps(20, (step) => `step ${step}/100 loss 2.5 step_time ${step % 2 === 0 ? 1 : 2}`))
    expect(progress?.etaRange).toEqual([80, 160])
    expect(progress?.etaSeconds).toBeGreaterThanOrEqual(80)
  })
  test('unknown without a total', () => {
    expect(read(['step 10 loss 2.5 step_time 1'])?.etaSeconds).toBeUndefined()
  })
})
