// The GPU source over a real forked child: what it says while all is well, and what while a GPU hangs, crashes, is lost or vanishes.
// Long: about 70 s.
import { describe, expect, test } from 'vitest'
import { readInFlightCall } from '../../../agent/sampler/in-flight-call.ts'
import { runScript, until } from './harness.ts'

const POWER = 'warpwatch_gpu_power_watts'
const LIMIT = 'warpwatch_gpu_power_limit_watts'
const power = (running: ReturnType<typeof runScript>, gpu: number) => running.value(POWER, { gpu: String(gpu) })

describe('a healthy child', () => {
  test('readings, gaps and ages of all GPUs arrive, and follow the values', async () => {
    await using running = runScript({ gpus: 3, watts: 111 })
    await until('first readings', () => [0, 1, 2].every((gpu) => power(running, gpu) === 111))
    running.script.set({ gpus: 3, watts: 222 })
    await until('new readings', () => [0, 1, 2].every((gpu) => power(running, gpu) === 222))
    // Gaps come once from the child and hold for its later samples.
    expect(running.store.gaps().filter((gap) => gap.metric === 'warpwatch_gpu_fan_speed_ratio' && gap.labels['gpu'] === '1').length).toBeGreaterThan(0)
    await until('ages', () => running.age(2) !== undefined)
    expect(running.age(0)).toBeLessThan(1.5)
    expect(running.source.state()).toMatchObject({ kind: 'sampling', gpus: 3 })
    const series = running.scrapes
      .flatMap(({ readings }) => readings)
      .filter((reading) => reading.series.metric.name === POWER && reading.series.labels['gpu'] === '0')
    expect(new Set(series.map((reading) => reading.series)).size, 'one object for one series').toBe(1)
  })

  test('are sampled on when the clock is set back by an hour', async () => {
    const ticks: ((t: number) => void | Promise<void>)[] = []
    await using running = runScript({ gpus: 1, watts: 111 }, {}, (_, run) => {
      ticks.push(run)
      return () => {}
    })
    // The ages close the first request: a tick while it is on its way is made good with the time of its end, not with the tick's.
    await until('the end of the first request', () => power(running, 0) === 111 && running.age(0) !== undefined)
    const readAt = (t: number, metric: string): boolean =>
      running.scrapes.some((scrape) => scrape.t === t && scrape.readings.some(({ series }) => series.metric.name === metric))
    const t = Math.floor(Date.now() / 1_000) * 1_000 + 60_000
    for (const at of [t, t - 3_600_000, t - 3_599_000]) {
      void ticks[0]?.(at)
      await until(`readings of ${at - t} ms`, () => readAt(at, POWER))
      await until(`ages of ${at - t} ms`, () => readAt(at, 'warpwatch_gpu_sample_age_seconds'))
    }
    expect(readAt(t - 3_599_000, POWER), 'a second after the first tick of the new time').toBe(true)
  })

  test('Xids are counted over the lives of children', async () => {
    await using running = runScript({ gpus: 1, xids: [31] })
    const count = () => running.value('warpwatch_gpu_xid_errors_total', { xid: '31' }) ?? 0
    await until('an Xid', () => count() >= 1)
    process.kill(running.source.samplerPid() ?? 0, 'SIGKILL')
    // What the killed child had sent may come after it.
    await until('the end of the first child', () => running.value('warpwatch_agent_sampler_restarts_total', { reason: 'crash' }) === 1)
    const before = count()
    expect(before).toBeGreaterThan(0)
    await until('more Xids from the next child', () => count() > before)
    expect(running.gapOf(0), 'nobody can say that the GPU had a part in it').toBeUndefined()
    expect(running.value('warpwatch_gpu_xid_last_code', { gpu: '0' })).toBe(31)
    expect(Math.abs((running.value('warpwatch_gpu_xid_last_timestamp_seconds', { xid: '31' }) ?? 0) - Date.now() / 1_000)).toBeLessThan(60)
    expect(running.value('warpwatch_agent_sampler_restarts_total', { reason: 'crash' })).toBe(1)
  })

  test('processes are joined with who they are', async () => {
    const identify = (pid: number) => ({ pid, startTicks: 1, name: 'python', container: { id: 'a'.repeat(64), name: 'trainer' } })
    await using running = runScript({ gpus: 1, processes: [{ pid: 7, type: 'C', bytes: 3_000 }] }, { identify })
    await until('its container', () => running.value('warpwatch_container_gpu_memory_bytes', { container: 'trainer' }) === 3_000)
    expect(running.value('warpwatch_process_gpu_memory_bytes', { pid: '7', process: 'python' })).toBe(3_000)
    expect(running.value('warpwatch_gpu_memory_unattributed_bytes')).toBe(2_000)
  })
})

describe('a GPU whose call is late', () => {
  const PATIENT = { deadlineMs: 60_000, lateMs: 500 }

  test('does not keep the others waiting for the deadline', async () => {
    await using running = runScript({ gpus: 3 }, { ...PATIENT, hangWindowMs: 0 })
    await until('first readings', () => power(running, 2) === 100)
    running.script.set({ gpus: 3, watts: 50, hang: [1] })
    await until('the others read by another child', () => power(running, 0) === 50 && power(running, 2) === 50)
    expect(running.gapOf(1), 'nothing is said of it before its deadline').toBeUndefined()
    running.script.set({ gpus: 3, watts: 60, hang: [1, 2] })
    await until('a third child', () => power(running, 0) === 60)
    expect([running.gapOf(1), running.gapOf(2)]).toEqual([undefined, undefined])
  })

  test('and returns is sampled with the others again; the next one gets the whole deadline', async () => {
    await using running = runScript({ gpus: 2 }, PATIENT)
    await until('first readings', () => power(running, 1) === 100)
    const first = running.source.samplerPid()
    running.script.set({ gpus: 2, watts: 50, hang: [1] })
    await until('another child', () => running.source.samplerPid() !== first && power(running, 0) === 50)
    running.script.set({ gpus: 2, watts: 60 })
    await until('both', () => power(running, 0) === 60 && power(running, 1) === 60)
    expect(running.log.filter((line) => !line.startsWith('sampling '))).toEqual([])
    const last = running.source.samplerPid()
    running.script.set({ gpus: 2, watts: 70, hang: [0] })
    const words = () => readInFlightCall(last ?? 0)?.gpu
    await until('a call that waits', () => words() === 0)
    await new Promise((resolve) => setTimeout(resolve, 3 * PATIENT.lateMs))
    running.script.set({ gpus: 2, watts: 80 })
    await until('both', () => power(running, 0) === 80 && power(running, 1) === 80)
    expect(running.source.samplerPid()).toBe(last)
  })
})

describe('a GPU that hangs', () => {
  test('is named, left out at once, and comes back when the hang ends', async () => {
    await using running = runScript({ gpus: 4 })
    await until('first readings', () => power(running, 3) !== undefined)
    running.script.set({ gpus: 4, hang: [2] })
    await until('a gap of GPU 2', () => running.gapOf(2) !== undefined)
    expect(running.gapOf(2)).toMatchObject({ reason: 'timeout', labels: { gpu: '2', uuid: 'GPU-2' } })
    expect(running.gapOf(2)?.detail).toMatch(/^nvmlDeviceGetPowerUsage on GPU 2 did not return within 0\.6 s; /)
    expect(power(running, 2), 'a silent GPU has no value').toBeUndefined()
    expect(running.value(LIMIT, { gpu: '2' }), 'nor one that was read more seldom').toBeUndefined()
    expect(running.value(LIMIT, { gpu: '1' })).toBe(700)
    await until('GPU 2 left out', () => /left out, retried in/.test(running.gapOf(2)?.detail ?? ''))
    // Whatever else happens now, the others stay fresh while two probes fail and the age of the hung one rises.
    let worst = 0
    await until('two failed probes', () => {
      for (const gpu of [0, 1, 3]) worst = Math.max(worst, running.age(gpu) ?? 99)
      return (running.value('warpwatch_agent_sampler_hangs_total', { function: 'nvmlDeviceGetPowerUsage' }) ?? 0) >= 4
    })
    expect(worst).toBeLessThan(2.5)
    expect(running.age(2)).toBeGreaterThan(1.5)
    expect(power(running, 0)).toBe(100)
    running.script.set({ gpus: 4, watts: 50 })
    await until('GPU 2 is back', () => power(running, 2) === 50 && running.gapOf(2) === undefined)
    await until('GPU 2 is fresh', () => (running.age(2) ?? 99) < 1.5)
    await until('sampled with the others', () => running.value('warpwatch_agent_sampler_restarts_total', { reason: 'returned' }) === 1)
  })

  test('while it is opened costs the others one short wait, not the time of a slow start', async () => {
    await using running = runScript({ gpus: 2, hangOpening: [1] }, { startDeadlineMs: 60_000, deadlineMs: 200 })
    await until('GPU 0 in spite of GPU 1', () => power(running, 0) !== undefined)
    expect(running.gapOf(1)).toMatchObject({ reason: 'timeout', labels: { gpu: '1' } })
    running.script.set({ gpus: 2 })
    await until('GPU 1', () => power(running, 1) !== undefined)
  })

  test('outside any GPU silences all, and heals', async () => {
    await using running = runScript({ gpus: 2 }, { startDeadlineMs: 500 })
    await until('first readings', () => power(running, 1) !== undefined)
    running.script.set({ gpus: 2, hang: [-1] })
    process.kill(running.source.samplerPid() ?? 0, 'SIGKILL') // the next child hangs in its initialisation
    await until('a gap of all', () => running.gapOf(undefined)?.reason === 'timeout')
    expect(power(running, 0)).toBeUndefined()
    expect(running.source.state()).toMatchObject({ kind: 'down', reason: 'timeout' })
    running.script.set({ gpus: 2 })
    await until('readings again', () => power(running, 0) !== undefined && running.gapOf(undefined) === undefined)
  })
})

describe('a library that crashes', () => {
  test('on one GPU is survived, and the GPU is named by its last words', async () => {
    await using running = runScript({ gpus: 3 })
    await until('first readings', () => power(running, 2) !== undefined)
    running.script.set({ gpus: 3, crash: [1] })
    await until('GPU 1 left out', () => /SIGSEGV.*nvmlDeviceGetPowerUsage on GPU 1; left out/.test(running.gapOf(1)?.detail ?? ''))
    expect(running.gapOf(1)?.reason).toBe('driver_error')
    await until('the others', () => power(running, 0) === 100 && power(running, 2) === 100)
    running.script.set({ gpus: 3 })
    await until('GPU 1 again', () => power(running, 1) === 100)
  })

  test('a child that exits again and again is begun with waits between', async () => {
    await using running = runScript({ gpus: 1, exit: 3 })
    await until('told as down', () => running.gapOf(undefined) !== undefined)
    expect(running.gapOf(undefined)).toMatchObject({ reason: 'driver_error' })
    expect(running.gapOf(undefined)?.detail).toMatch(/exited with code 3.*retried in/)
    running.script.set({ gpus: 1 })
    await until('readings', () => power(running, 0) !== undefined)
  })

  test('a program that cannot be started is told, not thrown', async () => {
    await using running = runScript({ gpus: 1 }, { childEntry: '/nonexistent/child.js' })
    await until('told as down', () => running.source.state().kind === 'down')
    expect(running.log.join('\n')).toContain('/nonexistent/child.js')
  })
})

describe('GPUs that come and go', () => {
  test('a lost GPU leaves at once with its reason, and has no age', async () => {
    await using running = runScript({ gpus: 3 })
    await until('first readings', () => power(running, 1) !== undefined && running.age(1) !== undefined)
    running.script.set({ gpus: 3, lost: [1] })
    await until('gap gpu_lost', () => running.gapOf(1)?.reason === 'gpu_lost')
    expect(running.gapOf(1)).toMatchObject({ code: 15, labels: { gpu: '1', uuid: 'GPU-1' } })
    expect(power(running, 1)).toBeUndefined()
    await until('no age', () => running.age(1) === undefined)
    expect(running.age(0)).toBeDefined()
    running.script.set({ gpus: 3 })
    await until('back', () => power(running, 1) === 100 && running.gapOf(1) === undefined)
  })

  test('one that answers as lost is taken back whole with that answer, its last Xid told', async () => {
    await using running = runScript({ gpus: 2 })
    await until('first readings', () => power(running, 1) !== undefined && running.age(1) !== undefined)
    running.script.set({ gpus: 2, gone: [1], xids: [79] })
    await until('gap gpu_lost', () => running.gapOf(1)?.reason === 'gpu_lost')
    expect(power(running, 1)).toBeUndefined()
    expect(running.value(LIMIT, { gpu: '1' })).toBeUndefined()
    expect(running.value('warpwatch_gpu_xid_errors_total', { gpu: '1', xid: '79' })).toBeGreaterThan(0)
    await until('no age', () => running.age(1) === undefined)
    expect(running.log.filter((line) => line.includes('is gone'))).toHaveLength(1)
    running.script.set({ gpus: 2 })
    await until('back', () => power(running, 1) === 100 && running.gapOf(1) === undefined)
  })

  test('a new one is sampled, a vanished one is gone with a reason', async () => {
    await using running = runScript({ gpus: 1 })
    await until('first readings', () => power(running, 0) !== undefined)
    running.script.set({ gpus: 2 })
    await until('GPU 1', () => power(running, 1) === 100)
    running.script.set({ gpus: 1 })
    await until('its reason', () => running.gapOf(1)?.reason === 'gpu_lost')
    expect(power(running, 1)).toBeUndefined()
    await until('no age', () => running.age(1) === undefined)
  })
})

describe('a left-out GPU', () => {
  test('that moved to another index frees its old one, which is sampled at once', async () => {
    await using running = runScript({ gpus: 2 }, { probeDelaysMs: [60_000] })
    await until('first readings', () => power(running, 1) !== undefined)
    running.script.set({ gpus: 2, hang: [1] })
    await until('left out', () => running.gapOf(1)?.detail?.includes('left out') === true)
    running.script.set({ gpus: 2, uuids: ['GPU-1', 'GPU-9'] })
    await until('the GPU that stands there now', () => running.value(POWER, { gpu: '1', uuid: 'GPU-9' }) === 100)
    await until('the one that moved', () => running.value(POWER, { gpu: '0', uuid: 'GPU-1' }) === 100)
    await until('no gap', () => running.gapOf(1) === undefined)
    expect(running.value(POWER, { uuid: 'GPU-0' }), 'the one that is gone').toBeUndefined()
  })
})

describe('NVML that cannot be used', () => {
  test('is told once per change with its code, and retried', async () => {
    const failed = { reason: 'driver_error', code: 9, detail: 'the driver is not loaded' }
    await using running = runScript({ gpus: 1, failed })
    await until('a gap of all', () => running.gapOf(undefined) !== undefined)
    expect(running.gapOf(undefined)).toMatchObject({
      labels: {},
      reason: 'driver_error',
      code: 9,
      detail: expect.stringMatching(/^the driver is not loaded: .*modprobe nvidia/),
    })
    await until('three tries', () => (running.value('warpwatch_agent_sampler_restarts_total', { reason: 'failed' }) ?? 0) >= 3)
    expect(running.log.filter((line) => line.includes('not loaded'))).toHaveLength(1)
    running.script.set({ gpus: 1 })
    await until('readings', () => power(running, 0) === 100 && running.gapOf(undefined) === undefined)
  })
})

describe('a child that misbehaves', () => {
  test('a stopped one is killed without blaming a GPU', async () => {
    await using running = runScript({ gpus: 2 })
    await until('first readings', () => power(running, 1) !== undefined)
    const pid = running.source.samplerPid() ?? 0
    process.kill(pid, 'SIGSTOP')
    await until('a restart', () => running.value('warpwatch_agent_sampler_restarts_total', { reason: 'stopped' }) === 1)
    await until('another child', () => running.source.samplerPid() !== undefined && running.source.samplerPid() !== pid)
    expect(running.gapOf(0) ?? running.gapOf(1)).toBeUndefined()
  })

  test.each([
    ['not an object', 7],
    ['an unknown type', { type: 'party' }],
    ['a sample without values', { type: 'gpu', id: 1, index: 0, uuid: 'x', rate: 'fast', durationMs: 1, series: [0] }],
    ['an unknown series', { type: 'series', series: [[3, 'warpwatch_gpu_no_such_metric', {}]] }],
    ['an undeclared label', { type: 'series', series: [[3, 'warpwatch_gpu_power_watts', { colour: 'red' }]] }],
    ['a prototype as labels', { type: 'series', series: [[3, 'warpwatch_gpu_power_watts', ['a']]] }],
  ])('%s is told once and does no harm', async (_what, bad) => {
    await using running = runScript({ gpus: 1, bad: [bad], watts: 42 })
    await until('the readings beside it', () => power(running, 0) === 42)
    await until('the second second', () => running.scrapes.filter(({ group }) => group === 'GPU-0/fast').length >= 3)
    expect(running.log.filter((line) => /the sampler: .*(no object|needs|undeclared|declares)/.test(line))).toHaveLength(1)
  })

  test('one that goes on with garbage is replaced', async () => {
    await using running = runScript({ gpus: 1, bad: Array(30).fill(null) })
    await until('a restart', () => (running.value('warpwatch_agent_sampler_restarts_total', { reason: 'garbage' }) ?? 0) >= 1)
    running.script.set({ gpus: 1 })
    await until('readings', () => power(running, 0) !== undefined)
    expect(power(running, 0)).toBe(100)
  })

  test('one that floods is ended, and the agent goes on', async () => {
    await using running = runScript({ gpus: 1, flood: true })
    await until('a restart', () => (running.value('warpwatch_agent_sampler_restarts_total', { reason: 'garbage' }) ?? 0) >= 1)
    running.script.set({ gpus: 1 })
    await until('readings', () => power(running, 0) !== undefined)
    expect(power(running, 0)).toBe(100)
  })
})
