// The first scrape begins when the child is ready, off the ticks; the tick that falls into it is not lost.
import { expect, test } from 'vitest'
import { runScript, until } from './harness.ts'

test('a tick that finds the first scrape on its way is made good at once: its second has a reading', async () => {
  let tick = (_t: number): unknown => undefined
  const beginning = Date.now()
  await using running = runScript(
    { gpus: 1 },
    // In the same turn in which the child is asked for the first time, so before it can have answered.
    { onState: ({ kind }) => kind === 'sampling' && queueMicrotask(() => tick(Date.now())) },
    (_period, run) => {
      tick = run
      return () => {}
    },
  )
  const readings = () => running.scrapes.filter(({ group, readings: read }) => group.endsWith('/fast') && read.length > 0)
  await until('a second reading without a second tick', () => readings().length >= 2)
  expect(readings().map(({ t }) => t >= beginning)).toEqual([true, true])
})
