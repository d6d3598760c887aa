// A driver that lists no GPU: asked whether there is one now each ten seconds, and sampled each second as soon as there is.
import { expect, test } from 'vitest'
import { runScript, until } from './harness.ts'

test('a driver without a GPU is asked each ten seconds, and each second once it has one', async () => {
  let tick = (_t: number): unknown => undefined
  await using running = runScript({ gpus: 0 }, {}, (_period, run) => {
    tick = run
    return () => {}
  })
  const agesAt = (t: number): boolean => running.scrapes.some((scrape) => scrape.group === 'age' && scrape.t >= t)
  const readings = () => running.scrapes.filter(({ group, readings: read }) => group.endsWith('/fast') && read.length > 0)
  await until('the first answer', () => agesAt(0))
  const begun = Date.now() + 1_000
  tick(begun)
  await until('the answer to the first tick', () => agesAt(begun))
  running.script.set({ gpus: 1 })
  for (let second = 1; second <= 10; second++) tick(begun + second * 1_000)
  await until('a reading', () => readings().length > 0)
  // What the child found meanwhile came with the tenth question.
  expect(readings()[0]?.t).toBe(begun + 10_000)
  tick(begun + 11_000)
  await until('the next second', () => readings().some(({ t }) => t === begun + 11_000))
})
