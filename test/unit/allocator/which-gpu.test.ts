// Which GPU a device of a probe is: by its UUID, or by what the driver lists of its process; never a guess.
import { expect, test } from 'vitest'
import { poll } from '../../setup/poll.ts'
import { createDriver, GIB, gpuSays, helloOf, processSays, sampleOf, startListening, statsOf, UUID, UUID1 } from './harness.ts'
import { living } from './living.ts'

const METRIC = 'warpwatch_allocator_'

test('two devices of one process are two rows; the second one is told in a later hello', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say([...gpuSays(0, 30 * GIB, 50 * GIB), ...gpuSays(1, 10 * GIB, 70 * GIB)])
  await using run = startListening(driver)
  const probe = await run.client()
  probe.say(helloOf(pid), sampleOf({ 0: statsOf(1, 2, 0) }))
  probe.say(
    helloOf(pid, {
      devices: [
        { i: 0, uuid: UUID },
        { i: 3, uuid: UUID1 },
      ],
    }),
    sampleOf({ 3: statsOf(5, 6, 1) }),
  )
  await poll(() => run.of(`${METRIC}reserved_bytes`).length === 2, { what: 'both devices' })
  expect(run.value(`${METRIC}headroom_bytes`, { uuid: UUID })).toBe(51 * GIB)
  expect(run.value(`${METRIC}headroom_bytes`, { uuid: UUID1 })).toBe(70 * GIB)
  expect(
    run
      .scrapes(UUID)
      .at(-1)
      ?.readings.every(({ series }) => series.labels['uuid'] === UUID),
  ).toBe(true)
})

test('a device that cannot be told is a gap of its process, not a guess', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say([...gpuSays(0, 30 * GIB, 50 * GIB), ...gpuSays(1, 10 * GIB, 70 * GIB), processSays(pid, 0, GIB), processSays(pid, 1, GIB)])
  await using run = startListening(driver)
  const probe = await run.client()
  probe.say(helloOf(pid, { devices: [{ i: 0, visible: null }] }), sampleOf({ 0: statsOf(1, 2, 0) }))
  await poll(() => run.gaps().length > 0, { what: 'the gap' })
  expect(run.gaps()[0]).toMatchObject({ metric: `${METRIC}reserved_bytes`, labels: { pid: String(pid) }, reason: 'not_supported' })
  expect(run.gaps()[0]?.detail).toContain('2 GPUs')
  expect(run.of(`${METRIC}reserved_bytes`)).toEqual([])
  expect(run.samples()).toEqual([])
  // The driver's list shrinks to one: then it is that.
  driver.say([...gpuSays(0, 30 * GIB, 50 * GIB), ...gpuSays(1, 10 * GIB, 70 * GIB), processSays(pid, 1, GIB)])
  const said = (): boolean => {
    probe.say(sampleOf({ 0: statsOf(1, 2, 0) }))
    return run.value(`${METRIC}reserved_bytes`, { uuid: UUID1 }) === 2 * GIB
  }
  await poll(said, { what: 'the row', everyMs: 300 })
  await poll(() => run.gaps().length === 0, { what: 'no gap' })
})
