// The loop that samples the peaks: one sample a period, and the event loop's turn whenever something comes or is being sent.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPeakLoop } from '../../../agent/sampler/child/peak-loop.ts'

/** Something comes with each `everyNth` wait; the others end with their time. */
function runLoop(everyNth: number, peak: () => void = () => {}) {
  const waits: number[] = []
  let peaks = 0
  const loop = createPeakLoop(
    (ms) => {
      waits.push(ms)
      return waits.length % everyNth === 0
    },
    () => {
      peaks++
      peak()
    },
  )
  return { loop, waits, peaks: () => peaks }
}

test('samples until something comes, then gives the event loop a turn and goes on', async () => {
  const { loop, waits, peaks } = runLoop(4)
  loop.follow(100)
  await turn()
  expect(peaks()).toBe(3)
  await turn()
  expect(peaks()).toBe(6)
  loop.follow(undefined)
  await turn()
  expect(peaks()).toBe(6)
  expect(waits.every((ms) => Number.isInteger(ms) && ms >= 0)).toBe(true)
})

test('stands still while a message is being sent or a connection made, and goes on behind the last of them', async () => {
  const { loop, peaks } = runLoop(2)
  loop.follow(100)
  loop.busy()
  loop.busy()
  await turn()
  loop.free()
  await turn()
  expect(peaks()).toBe(0)
  loop.free()
  await turn()
  expect(peaks()).toBe(1)
  loop.follow(undefined)
})

test('a driver that takes longer than a period still lets what comes in, before each sample', async () => {
  const { loop, waits, peaks } = runLoop(5, () => {
    for (const until = performance.now() + 3; performance.now() < until;);
  })
  loop.follow(1)
  await turn()
  loop.follow(undefined)
  expect([waits.length, peaks()]).toEqual([5, 4])
  expect(waits.slice(1)).toEqual([0, 0, 0, 0])
})
