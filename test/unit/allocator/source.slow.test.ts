// Probes that keep to the protocol: what they say becomes events and metrics of the right process on the right GPU.
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import { createProcessIdentifier } from '../../../agent/attribution/process.ts'
import { poll } from '../../setup/poll.ts'
import { createDriver, GIB, gpuSays, helloOf, processSays, sampleOf, startListening, statsOf, UUID } from './harness.ts'
import { living } from './living.ts'

const METRIC = 'warpwatch_allocator_'

test('its figures and the measures made of them are on the page of its process and GPU', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say([...gpuSays(0, 30 * GIB, 50 * GIB), processSays(pid, 0, 21 * GIB)])
  await using run = startListening(driver)
  const probe = await run.client()
  probe.say(helloOf(pid), sampleOf({ 0: statsOf(12, 20, 3) }))
  await poll(() => run.value(`${METRIC}headroom_bytes`), { what: 'the headroom' })
  const labels = { gpu: '0', uuid: UUID, pid: String(pid), process: 'sleep' }
  expect(run.value(`${METRIC}allocated_bytes`, labels)).toBe(12 * GIB)
  expect(run.value(`${METRIC}reserved_bytes`, labels)).toBe(20 * GIB)
  expect(run.value(`${METRIC}inactive_split_bytes`, labels)).toBe(3 * GIB)
  expect(run.value(`${METRIC}retries_total`, labels)).toBe(0)
  expect(run.value(`${METRIC}unreleasable_bytes`, labels)).toBe(15 * GIB)
  expect(run.value(`${METRIC}headroom_bytes`, labels)).toBe((50 + 20 - 15) * GIB)
  expect(run.of(`${METRIC}stranded_ratio`)).toEqual([])
  expect(run.samples()[0]).toMatchObject({ pid, uuid: UUID, backend: 'native', expandable: false, limit_bytes: null, stats: { allocated_bytes: 12 * GIB } })
  expect(run.samples()[0]?.peaks).toEqual({ allocated_bytes: 12 * GIB, reserved_bytes: 20 * GIB })
  expect(run.refusals()).toEqual({})
  expect(run.connections()).toBe(1)

  // A flush: what stays in pieces, over what the GPU can give.
  // Said again as a probe does: one that comes too soon after the last is passed over.
  const again = (): number | undefined => {
    probe.say(sampleOf({ 0: statsOf(12, 16, 4, { num_alloc_retries: 1 }) }))
    return run.value(`${METRIC}stranded_ratio`, labels)
  }
  expect(await poll(again, { what: 'S*', everyMs: 200 })).toBe(4 / 80)
  expect(run.value(`${METRIC}retries_total`, labels)).toBe(1)
})

test('what it falls silent about leaves the metrics; its connection may stay', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say([...gpuSays(0, 30 * GIB, 50 * GIB)])
  await using run = startListening(driver)
  const probe = await run.client()
  probe.say(helloOf(pid), sampleOf({ 0: statsOf(1, 2, 0) }))
  await poll(() => run.of(`${METRIC}reserved_bytes`).length === 1, { what: 'the sample' })
  await poll(() => run.of(`${METRIC}reserved_bytes`).length === 0, { what: 'the sample to be too old' })
  expect(run.connections()).toBe(1)
  probe.say(sampleOf({ 0: statsOf(1, 2, 0) }))
  await poll(() => run.of(`${METRIC}reserved_bytes`).length === 1, { what: 'a new sample' })
  probe.say({ type: 'bye', t: 1 })
  await poll(() => probe.closed() && run.connections() === 0, { what: 'the end' })
})

test('statistics that go backwards are a reset: taken as they are, no flush is made up', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say(gpuSays(0, 30 * GIB, 50 * GIB))
  await using run = startListening(driver)
  const probe = await run.client()
  probe.say(helloOf(pid), sampleOf({ 0: statsOf(9, 10, 1, { num_alloc_retries: 7, num_ooms: 2 }) }))
  await poll(() => run.value(`${METRIC}retries_total`) === 7, { what: 'the first' })
  // Said again as a probe does: one that comes too soon after the last is passed over.
  const again = (): boolean => {
    probe.say(sampleOf({ 0: statsOf(1, 2, 1, { num_alloc_retries: 0, num_ooms: 0 }) }))
    return run.value(`${METRIC}retries_total`) === 0
  }
  await poll(again, { what: 'the reset', everyMs: 200 })
  expect(run.value(`${METRIC}ooms_total`)).toBe(0)
  expect(run.of(`${METRIC}stranded_ratio`)).toEqual([])
  expect(run.refusals()).toEqual({})
})

test('a key that this torch lacks stays absent, and so does what follows from it; other backends have no split', async () => {
  const [old, other] = [living(), living()]
  const driver = createDriver()
  driver.say(gpuSays(0, 30 * GIB, 50 * GIB))
  await using run = startListening(driver)
  const [first, second] = [await run.client(), await run.client()]
  first.say(helloOf(old), sampleOf({ 0: { allocated_bytes: [5, 5], reserved_bytes: [9, 9] } }))
  second.say(helloOf(other, { backend: 'cudaMallocAsync' }), sampleOf({ 0: statsOf(3, 4, 0) }))
  await poll(() => run.of(`${METRIC}reserved_bytes`).length === 2, { what: 'both' })
  const names = (pid: number): readonly string[] =>
    [...run.latest.groups()]
      .flatMap(({ readings }) =>
        readings.filter(({ series }) => series.labels['pid'] === String(pid)).map(({ series }) => series.metric.name.slice(METRIC.length)),
      )
      .sort()
  expect(names(old)).toEqual(['allocated_bytes', 'reserved_bytes'])
  expect(names(other)).toEqual(['active_bytes', 'allocated_bytes', 'reserved_bytes'])
})

test('an OOM is told once, however often it comes, and its state is the one after the flush', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say(gpuSays(0, 79 * GIB, GIB))
  await using run = startListening(driver)
  const oom = (n: number) => ({
    type: 'oom',
    n,
    t: Date.now() / 1000,
    device: 0,
    request_bytes: 2 * GIB,
    limit_bytes: 80 * GIB,
    free_bytes: GIB,
    stats: statsOf(50, 60, 8, { num_alloc_retries: 1, num_ooms: 1 }),
    pools: [
      {
        pool: [0, 0],
        stream: 0,
        kind: 'large',
        expandable: false,
        segments: 3,
        total_bytes: 9,
        active_bytes: 5,
        pending_bytes: 0,
        free_bytes: 4,
        free_blocks: 2,
        largest_free_bytes: 3,
        free_segments: 0,
        fitting_bytes: 0,
      },
    ],
  })
  const first = await run.client()
  first.say(helloOf(pid), sampleOf({ 0: statsOf(50, 60, 8) }), oom(1), oom(1))
  await poll(() => run.ooms().length > 0, { what: 'the OOM' })
  first.socket.destroy()
  const second = await run.client()
  second.say(helloOf(pid), oom(1), oom(2), sampleOf({ 0: statsOf(50, 60, 8, { num_alloc_retries: 1, num_ooms: 1 }) }))
  await poll(() => run.ooms().length >= 2, { what: 'the second OOM' })
  expect(run.ooms()).toHaveLength(2)
  expect(run.ooms()[0]).toMatchObject({ pid, uuid: UUID, request_bytes: 2 * GIB, limit_bytes: 80 * GIB, free_bytes: GIB, stats: { num_ooms: 1 } })
  expect(run.ooms()[0]?.pools?.[0]?.largest_free_bytes).toBe(3)
  const again = (): number | undefined => {
    second.say(sampleOf({ 0: statsOf(50, 60, 8, { num_alloc_retries: 1, num_ooms: 1 }) }))
    return run.value(`${METRIC}stranded_ratio`)
  }
  expect(await poll(again, { what: 'S*', everyMs: 200 })).toBe(8 / 80)
})

test('an OOM is not lost over pools that nobody understands, nor when its GPU is known only later', async () => {
  const pid = living()
  const driver = createDriver()
  await using run = startListening(driver)
  const probe = await run.client()
  probe.say(helloOf(pid), { type: 'oom', n: 1, t: Date.now() / 1000, device: 0, request_bytes: 5, stats: {}, pools: [{ kind: 'huge' }] })
  await poll(() => run.connections() === 1, { what: 'the connection' })
  expect(run.ooms()).toEqual([])
  driver.say(gpuSays(0, 79 * GIB, GIB))
  await poll(() => run.ooms().length === 1, { what: 'the OOM' })
  expect(run.ooms()[0]).toMatchObject({ pid, uuid: UUID, request_bytes: 5, stats: {} })
  expect(run.ooms()[0]).not.toHaveProperty('pools')
})

test('an uncaught exception is a line of the log only when it may be a fault', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say(gpuSays(0, 79 * GIB, GIB))
  await using run = startListening(driver)
  const probe = await run.client()
  const t = Date.now() / 1000
  probe.say(helloOf(pid), { type: 'exc', n: 1, t, name: 'KeyError', text: "'loss'" })
  probe.say({ type: 'exc', n: 2, t, name: 'OutOfMemoryError', text: 'CUDA out of memory. Tried to allocate 2.00 GiB.' })
  await poll(() => run.logs().length > 0, { what: 'the line' })
  expect(run.logs()).toHaveLength(1)
  expect(run.logs()[0]).toMatchObject({
    stream: 'file',
    origin: { path: `probe:${pid}` },
    text: 'OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
  })
})

test("the time is the probe's while both clocks agree, else ours", async () => {
  const pid = living()
  const driver = createDriver()
  driver.say(gpuSays(0, 79 * GIB, GIB))
  await using run = startListening(driver)
  const probe = await run.client()
  const near = Date.now() - 1_000
  probe.say(helloOf(pid), sampleOf({ 0: statsOf(1, 1, 0) }, { t: near / 1000 }))
  await poll(() => run.samples().length === 1, { what: 'a sample' })
  expect(run.samples()[0]?.t).toBe(near)
  const far = await run.client()
  const began = Date.now()
  far.say(helloOf(living()), sampleOf({ 0: statsOf(1, 1, 0) }, { t: 5 }))
  await poll(() => run.samples().length === 2, { what: 'a sample' })
  expect(run.samples()[1]?.t).toBeGreaterThanOrEqual(began)
})

test('one more copy of a probe does not count twice, and takes over when the first falls silent', async () => {
  const pid = living()
  const driver = createDriver()
  driver.say(gpuSays(0, 79 * GIB, GIB))
  await using run = startListening(driver)
  const [first, second] = [await run.client(), await run.client()]
  first.say(helloOf(pid), sampleOf({ 0: statsOf(1, 1, 0) }))
  await poll(() => run.samples().length === 1, { what: 'the first' })
  second.say(helloOf(pid), sampleOf({ 0: statsOf(7, 7, 0) }))
  await poll(() => run.connections() === 2 && run.value(`${METRIC}allocated_bytes`) !== undefined, { what: 'both' })
  expect(run.value(`${METRIC}allocated_bytes`)).toBe(GIB)
  first.socket.destroy()
  await poll(() => run.connections() === 1, { what: 'the first to be gone' })
  second.say(sampleOf({ 0: statsOf(7, 7, 0) }))
  await poll(() => run.value(`${METRIC}allocated_bytes`) === 7 * GIB, { what: 'the second' })
})

test('the process ends: its last words are told with its container, then it is gone', async () => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  const pid = child.pid ?? 0
  const real = createProcessIdentifier({ procRoot: '/proc', directory: createContainerDirectory() })
  const container = { id: 'c'.repeat(64), name: 'trainer' }
  let identified = 0
  const identify = (asked: number) => {
    const who = real(asked)
    if (who !== undefined) identified++
    return who === undefined ? undefined : { ...who, container }
  }
  const driver = createDriver()
  driver.say(gpuSays(0, 79 * GIB, GIB))
  await using run = startListening(driver, { identify })
  const probe = await run.client()
  probe.say(helloOf(pid), sampleOf({ 0: statsOf(1, 1, 0) }))
  await poll(() => run.value(`${METRIC}allocated_bytes`, { container: 'trainer', container_id: 'c'.repeat(12) }) === GIB, { what: 'the sample' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  probe.say({ type: 'oom', n: 1, t: Date.now() / 1000, device: 0, request_bytes: 5 })
  probe.say({ type: 'exc', n: 2, t: Date.now() / 1000, name: 'OutOfMemoryError', text: 'CUDA out of memory. Tried to allocate 5 bytes.' })
  await poll(() => run.logs().length === 1, { what: 'the last words' })
  expect(run.ooms()[0]).toMatchObject({ container: 'trainer' })
  expect(run.logs()[0]).toMatchObject({ stream: 'container', origin: { container: 'trainer', container_id: 'c'.repeat(12), path: `probe:${pid}` } })
  await poll(() => run.of(`${METRIC}allocated_bytes`).length === 0 && probe.closed(), { what: 'it to be gone' })
  expect(identified).toBeGreaterThan(0)
})
