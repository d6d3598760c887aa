// A flood of lines costs the reader of progress a few lines, and what it ends with is known all the same. The clock is the test's own.
import { expect, test } from 'vitest'
import { createLineBuffer } from '../../../agent/sources/logs/line-buffer.ts'
import { createProgressTap } from '../../../agent/sources/logs/progress-tap.ts'

const LOOK_MS = 200
/** So many lines a look: 31,000 a second. */
const LINES = 6_200

function createLog() {
  let ms = 1_000_000
  const tap = createProgressTap(
    () => 1,
    () => ms,
    () => ms,
  )
  const lines = createLineBuffer({ onBatch: (batch) => tap.take(batch, () => ms), onCut: () => {} })
  return {
    tap,
    write: (text: string): void => lines.push(Buffer.from(text)),
    wait: (span: number): void => void (ms += span),
  }
}
const line = (step: number): string => `step ${step}/900000 loss ${(2 + 1 / step).toFixed(4)} lr 1.0e-04\n`
const flood = (from: number): string => Array.from({ length: LINES }, (_, at) => line(from + at)).join('')

test('of 15 seconds with 31,000 lines a second a few lines are read, whatever the pieces in which they come', () => {
  const { tap, write, wait } = createLog()
  for (let look = 0; look < 75; look++) {
    const text = flood(1 + look * LINES)
    // Torn within a line, so that its rest comes as a batch of its own.
    write(text.slice(0, -9))
    write(text.slice(-9))
    wait(LOOK_MS)
  }
  expect(tap.reader.said()).toBeGreaterThan(3)
  expect(tap.reader.said()).toBeLessThan(30)
  expect(tap.reader.progress()?.step).toBeGreaterThan(60 * LINES)
})

test('the last line of a flood is read once it is over', () => {
  const { tap, write, wait } = createLog()
  write(flood(1))
  wait(LOOK_MS)
  write(flood(1 + LINES) + line(777_777))
  tap.settle()
  expect(tap.reader.progress()?.step).not.toBe(777_777)
  wait(1_000)
  tap.settle()
  expect(tap.reader.progress()?.step).toBe(777_777)
})

test('a log that becomes quiet is read line by line again', () => {
  const { tap, write, wait } = createLog()
  write(flood(1))
  wait(2_000)
  for (const step of [800_000, 800_010, 800_020]) {
    write(line(step))
    expect(tap.reader.progress()?.step).toBe(step)
    wait(500)
  }
})

test('of a bar that was drawn many times within a line the newest is read, and the bar beside it too', () => {
  const { tap } = createLog()
  const bar = (name: string, step: number, of: number, loss = ''): string => `\r${name}:  ${step}%|████      | ${step}/${of} [00:10<00:30,  2.50it/s${loss}]`
  const drawn = Array.from({ length: 12 }, (_, at) => bar('Training', 40 + at, 100, `, loss=0.${40 + at}`)).join('')
  tap.open(Buffer.from(`${drawn}${bar('Validation', 3, 10)}${bar('Validation', 4, 10)}`))
  expect(tap.reader.progress()).toMatchObject({ step: 51, total: 100, loss: 0.51 })
  expect(tap.reader.said()).toBe(1)
})
