// The whole chain from a native library that hangs, crashes or loses a GPU to the store: fake libnvidia-ml, real sampler child, real supervisor.
// Long: about 55 s.
import { describe, expect, test } from 'vitest'
import * as collectors from '../../agent/collectors/index.ts'
import { RATES } from '../../agent/sampler/protocol.ts'
import { compiler, fakeLibrary } from '../fakes/nvml/build.ts'
import { eightH100, fakeUuid, migH100, scenarioFile, withGpu, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { runSource, until } from '../unit/sampler/harness.ts'

const HANG_MS = 600_000
const childEntry = new URL('../../agent/sampler/child-main.ts', import.meta.url)
const metrics = Object.values(collectors).flatMap((collector) => collector.metrics)
const POWER = 'warpwatch_gpu_power_watts'
const others = (gpu: number) => [0, 1, 2, 3, 4, 5, 6, 7].filter((other) => other !== gpu)

function runFake(scenario: FakeScenario, options: Partial<Parameters<typeof runSource>[0]> = {}) {
  const file = scenarioFile(scenario)
  const running = runSource({
    childEntry,
    libraries: [fakeLibrary() ?? ''],
    collectorMetrics: metrics,
    env: { ...process.env, FAKE_NVML_SCENARIO: file.path },
    peakHz: 10,
    ...options,
  })
  return {
    ...running,
    file,
    power: (gpu: number) => running.value(POWER, { gpu: String(gpu) }),
    async [Symbol.asyncDispose]() {
      await running.stop()
      file.remove()
    },
  }
}
type Fake = ReturnType<typeof runFake>
const started = (running: Fake, gpus: readonly number[] = others(-1)) =>
  until('first readings of all GPUs', () => gpus.every((gpu) => running.power(gpu) !== undefined && running.age(gpu) !== undefined))

describe.skipIf(compiler === undefined)('a driver that misbehaves (needs a C compiler)', () => {
  test('a function that hangs on GPU 3 leaves the others fresh, marks GPU 3, and heals when the hang ends', async () => {
    const scenario = eightH100()
    await using running = runFake(scenario)
    await started(running)
    running.file.write(withGpu(scenario, 3, { 'delay.nvmlDeviceGetPowerUsage': HANG_MS }))
    await until('GPU 3 left out', () => running.gapOf(3)?.detail?.includes('left out, retried') === true)
    expect(running.gapOf(3)).toMatchObject({ reason: 'timeout', labels: { gpu: '3', uuid: fakeUuid(3) } })
    expect(running.gapOf(3)?.detail).toContain('nvmlDeviceGetPowerUsage on GPU 3 did not return within 2 s')
    expect(running.power(3)).toBeUndefined()
    await until('a new child', () => others(3).every((gpu) => (running.age(gpu) ?? 99) < 1))
    const hangs = () => running.value('warpwatch_agent_sampler_hangs_total', { gpu: '3', function: 'nvmlDeviceGetPowerUsage' }) ?? 0
    const before = hangs()
    const sampled = (gpu: number): number => running.scrapes.filter(({ group }) => group === `${fakeUuid(gpu)}/fast`).length
    const counts = others(3).map(sampled)
    await until('a try of GPU 3 that fails', () => hangs() > before)
    expect(
      others(3).every((gpu, i) => sampled(gpu) > (counts[i] ?? 0)),
      'the others are sampled while it is tried apart',
    ).toBe(true)
    await until('readings of the others', () => others(3).every((gpu) => running.power(gpu) !== undefined))
    await until('an age that goes on rising', () => (running.age(3) ?? 0) > 8)
    running.file.write(scenario)
    await until('GPU 3 sampled again', () => running.power(3) !== undefined && running.gapOf(3) === undefined)
    await until('with the others', () => running.value('warpwatch_agent_sampler_restarts_total', { reason: 'returned' }) === 1)
    await until('all fresh', () => others(-1).every((gpu) => (running.age(gpu) ?? 99) < 1.5))
  })

  test('a GPU that hangs while it is opened does not hold up the others', async () => {
    const scenario = eightH100()
    await using running = runFake(withGpu(scenario, 0, { 'delay.nvmlDeviceGetHandleByIndex_v2': HANG_MS }), { deadlineMs: 500 })
    await until('the others', () => others(0).every((gpu) => running.power(gpu) !== undefined))
    expect(running.gapOf(0)).toMatchObject({ reason: 'timeout', labels: { gpu: '0' } })
    expect(running.gapOf(0)?.detail).toContain('nvmlDeviceGetHandleByIndex_v2 on GPU 0')
    running.file.write(scenario)
    await until('GPU 0', () => running.power(0) !== undefined && running.age(0) !== undefined)
    expect(running.gapOf(0), 'the gap of the GPU whose UUID was not known yet').toBeUndefined()
  })

  test('an initialisation that hangs is told as such, and heals', async () => {
    const scenario = eightH100()
    const hung = { ...scenario, values: { ...scenario.values, 'delay.nvmlInit_v2': HANG_MS } }
    await using running = runFake(hung, { startDeadlineMs: 3_000 })
    await until('a gap of all', () => running.gapOf(undefined) !== undefined)
    expect(running.gapOf(undefined)).toMatchObject({ reason: 'timeout', labels: {} })
    expect(running.gapOf(undefined)?.detail).toMatch(/^nvmlInit_v2 did not return within 3 s; /)
    running.file.write(scenario)
    await started(running)
  })

  test('SIGSEGV in the library is survived, and the GPU and function named', async () => {
    const scenario = eightH100()
    await using running = runFake(scenario)
    await started(running)
    running.file.write(withGpu(scenario, 5, { 'crash.nvmlDeviceGetTemperature': 1, 'crash.nvmlDeviceGetMemoryInfo_v2': 1 }))
    await until('GPU 5 left out', () => /SIGSEGV.*on GPU 5; left out/.test(running.gapOf(5)?.detail ?? ''))
    await until('the others fresh', () => others(5).every((gpu) => running.power(gpu) !== undefined && (running.age(gpu) ?? 99) < 1.5))
    expect(running.gapOf(5)?.reason).toBe('driver_error')
  })

  test('a GPU that falls off the bus leaves with all its series, and comes back', async () => {
    const scenario = eightH100()
    await using running = runFake(scenario)
    await started(running)
    running.file.write(withGpu(scenario, 2, { lost: 1 }))
    await until('gap gpu_lost', () => running.gapOf(2)?.reason === 'gpu_lost')
    const series = () => [...running.store.groups()].flatMap((group) => group.readings).filter(({ series }) => series.labels['uuid'] === fakeUuid(2))
    await until('no series of it', () => {
      running.store.expire(Date.now())
      return series().length === 0
    })
    expect(running.gapOf(2)).toMatchObject({ labels: { gpu: '2', uuid: fakeUuid(2) } })
    expect(running.power(1)).toBeDefined()
    // The child starts NVML again some seconds later; then the GPU cannot even be opened, and the reason stays.
    await until('a new enumeration', () => running.log.some((line) => line.includes('cannot be opened')))
    expect(running.gapOf(2)?.reason).toBe('gpu_lost')
    expect(series()).toEqual([])
    running.file.write(scenario)
    await until('back', () => running.power(2) !== undefined && running.gapOf(2) === undefined)
  })

  test('a driver that is unloaded and loaded again', async () => {
    const scenario = eightH100()
    await using running = runFake(scenario, { failedDelaysMs: [500] })
    await started(running)
    running.file.write({ ...scenario, values: { ...scenario.values, init: 9 } })
    process.kill(running.source.samplerPid() ?? 0, 'SIGKILL')
    await until('a gap of all with code 9', () => running.gapOf(undefined)?.code === 9)
    expect(running.power(0)).toBeUndefined()
    expect(running.source.state().kind).toBe('down')
    running.file.write(scenario)
    await started(running)
    expect(running.gapOf(undefined)).toBeUndefined()
  })

  test('without a sign of a driver no child is begun again, and with one at once', async () => {
    const scenario = eightH100()
    let [asked, shows] = [0, false]
    await using running = runFake({ ...scenario, values: { ...scenario.values, init: 9 } }, { failedDelaysMs: [50], mayWork: () => (asked++, shows) })
    await until('it was asked some times', () => asked > 5)
    expect(running.states.filter(({ kind }) => kind === 'down')).toHaveLength(1)
    expect(running.gapOf(undefined)?.code).toBe(9)
    running.file.write(scenario)
    shows = true
    await started(running)
  })

  test('GPUs that appear and vanish', async () => {
    const scenario = eightH100()
    const fewer = { ...scenario, gpus: scenario.gpus.slice(0, 6) }
    await using running = runFake(fewer)
    await started(running, [0, 5])
    expect(running.power(7)).toBeUndefined()
    running.file.write(scenario)
    await until('GPU 7', () => running.power(7) !== undefined)
    running.file.write(fewer)
    await until('GPU 7 gone with a reason', () => running.power(7) === undefined && running.gapOf(7)?.reason === 'gpu_lost')
  })

  test('processes of MIG instances are attributed to them, and the rest to nobody', async () => {
    const one = migH100(0)
    await using running = runFake({ ...eightH100(), gpus: [one] })
    await until('process memory', () => running.value('warpwatch_process_gpu_memory_bytes', { gi: '2' }) !== undefined)
    const GIB = 1024 ** 3
    expect(running.value('warpwatch_process_gpu_memory_bytes', { gi: '1', ci: '0' })).toBe(9 * GIB)
    expect(running.value('warpwatch_gpu_memory_unattributed_bytes')).toBe(2 * GIB)
  })

  test('every rate is asked for at once: the first second has them all', async () => {
    await using running = runFake(eightH100())
    await until('all rates', () => RATES.every((rate) => running.scrapes.some(({ group }) => group === `${fakeUuid(7)}/${rate}`)))
    const first = running.scrapes.filter(({ group }) => group.startsWith(fakeUuid(7)))
    expect(new Set(first.slice(0, 4).map(({ t }) => t)).size).toBe(1)
  })
})
