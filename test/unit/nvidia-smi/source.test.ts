// The nvidia-smi source against a fake executable: series, lost GPUs, every way to fail, hangs, and standing in for NVML.
import { afterEach, describe, expect, test } from 'vitest'
import { exampleGpu, exampleHost } from '../../fakes/nvidia-smi/host.ts'
import { printXml } from '../../fakes/nvidia-smi/print-xml.ts'
import type { Harness } from './harness.ts'
import { startHarness, valueOf } from './harness.ts'

const MIB = 2 ** 20
const second = { ...exampleGpu, uuid: 'GPU-0e0e0e0e-1111-2222-3333-444444444444', busId: '00000000:65:00.0', usedMib: 9, processes: [] }
const two = exampleHost([exampleGpu, second])
const xml = printXml(two, 'v13')

let running: Harness | undefined
const start = async (options?: Parameters<typeof startHarness>[0]): Promise<Harness> => (running = await startHarness(options))
afterEach(async () => {
  await running?.stop()
  running = undefined
})

describe('what it reads', () => {
  test("both GPUs' series, with the labels that NVML's have", async () => {
    const { next } = await start({ files: { 'q-x.xml': xml } })
    const scrape = await next()
    expect(scrape.source).toBe('nvidia-smi')
    const first = { gpu: '0', uuid: exampleGpu.uuid }
    expect(valueOf(scrape, 'gpu_memory_used_bytes', first)).toBe(1_500 * MIB)
    expect(valueOf(scrape, 'gpu_memory_used_bytes', { gpu: '1', uuid: second.uuid })).toBe(9 * MIB)
    expect(valueOf(scrape, 'gpu_utilization_ratio', first)).toBe(0.37)
    expect(valueOf(scrape, 'gpu_power_watts', first)).toBe(123.45)
    expect(valueOf(scrape, 'gpu_clock_hertz', { ...first, domain: 'memory' })).toBe(1_215e6)
    expect(valueOf(scrape, 'gpu_throttle_active', { ...first, reason: 'hw_thermal_slowdown' })).toBe(1)
    expect(valueOf(scrape, 'gpu_throttle_reasons', first)).toBe(0x40)
    expect(valueOf(scrape, 'gpu_throttle_seconds_total', { ...first, reason: 'sw_power_cap' })).toBe(2.5)
    expect(valueOf(scrape, 'gpu_ecc_errors_total', { ...first, type: 'corrected', scope: 'volatile' })).toBe(7)
    expect(valueOf(scrape, 'gpu_info', { ...first, name: exampleGpu.name, driver_version: '570.10.20', pci_bus_id: exampleGpu.busId })).toBe(1)
    expect(scrape.gaps.find((gap) => gap.metric === 'warpwatch_gpu_fan_speed_ratio')).toMatchObject({ labels: first, reason: 'not_supported', code: 3 })
    expect(scrape.gaps.find((gap) => gap.metric === 'nvidia-smi')).toBeUndefined()
  })

  test('who holds the memory: processes by name, one whose memory is not told', async () => {
    const { next } = await start({ files: { 'q-x.xml': xml } })
    const scrape = await next()
    expect(valueOf(scrape, 'process_gpu_memory_bytes', { pid: '4242', process: 'process-4242', type: 'C' })).toBe(1_000 * MIB)
    expect(scrape.gaps.filter((gap) => gap.metric === 'warpwatch_process_gpu_memory_bytes').map((gap) => gap.labels['pid'])).toEqual(['4343'])
    expect(valueOf(scrape, 'gpu_memory_unattributed_bytes', { gpu: '1' })).toBe(9 * MIB)
  })

  test('MIG instances and their processes', async () => {
    const mig = {
      ...exampleGpu,
      utilization: null,
      migs: [{ gi: 2, ci: 0, totalMib: 20_000, usedMib: 700 }],
      processes: [{ pid: 5, type: 'C' as const, name: 'x', usedMib: 600, gi: 2, ci: 0 }],
    }
    const { next } = await start({ files: { 'q-x.xml': printXml(exampleHost([mig])) } })
    const scrape = await next()
    expect(valueOf(scrape, 'gpu_memory_used_bytes', { gi: '2', ci: '0', uuid: exampleGpu.uuid })).toBe(700 * MIB)
    expect(valueOf(scrape, 'process_gpu_memory_bytes', { gi: '2', ci: '0', pid: '5' })).toBe(600 * MIB)
  })

  test('ages of all GPUs, each second, rising while nothing is read', async () => {
    const { next, tick, put } = await start({ files: { 'q-x.xml': xml } })
    await next()
    put('sleep', 'forever')
    tick(60_000)
    const first = await next('age')
    expect(first.readings.map(({ series }) => series.labels['gpu'])).toEqual(['0', '1'])
    tick()
    const later = await next('age')
    expect(valueOf(later, 'gpu_sample_age_seconds', { gpu: '0' })).toBeGreaterThan(
      valueOf(first, 'gpu_sample_age_seconds', { gpu: '0' }) ?? Number.POSITIVE_INFINITY,
    )
  })
})

describe('a GPU that is lost', () => {
  test('leaves the other, keeps its number, and says why', async () => {
    const { next, tick, put } = await start({ files: { 'q-x.xml': xml } })
    await next()
    put('q-x.xml', `Unable to determine the device handle for GPU0: ${exampleGpu.busId}: Unknown Error\n${printXml(exampleHost([second]), 'v13', 2)}`)
    put('exit', '15')
    tick(60_000)
    const scrape = await next()
    expect(valueOf(scrape, 'gpu_memory_used_bytes', { gpu: '1', uuid: second.uuid })).toBe(9 * MIB)
    expect(scrape.readings.filter(({ series }) => series.labels['uuid'] === exampleGpu.uuid)).toEqual([])
    expect(scrape.gaps).toContainEqual(expect.objectContaining({ metric: 'gpu', labels: { gpu: '0', uuid: exampleGpu.uuid }, reason: 'gpu_lost', code: 15 }))
    tick()
    expect((await next('age')).readings.map(({ series }) => series.labels['uuid'])).toContain(exampleGpu.uuid)
  })

  test('every value printed as lost: gaps, and no number', async () => {
    const { next } = await start({ files: { 'q-x.xml': printXml(exampleHost([{ ...exampleGpu, all: 'GPU is lost' }, second]), 'v13') } })
    const scrape = await next()
    const uuid = exampleGpu.uuid
    expect(scrape.readings.filter(({ series }) => series.labels['uuid'] === uuid && series.metric.kind !== 'info').map(({ series }) => series.key)).toEqual(
      // The processes are still listed.
      [expect.stringContaining('process_gpu_memory_bytes')],
    )
    expect(scrape.gaps.find((gap) => gap.metric === 'warpwatch_gpu_memory_used_bytes' && gap.labels['uuid'] === uuid)).toMatchObject({
      reason: 'gpu_lost',
      code: 15,
    })
    expect(valueOf(scrape, 'gpu_memory_used_bytes', { uuid: second.uuid })).toBe(9 * MIB)
  })

  test('one that does not even tell its UUID is known by its place', async () => {
    const { next, tick, put } = await start({ files: { 'q-x.xml': xml } })
    await next()
    put('q-x.xml', xml.replace(`<uuid>${exampleGpu.uuid}</uuid>`, '<uuid>GPU is lost</uuid>').replace('<used>1500 MiB</used>', '<used>GPU is lost</used>'))
    tick(60_000)
    const { gaps } = await next()
    expect(gaps).toContainEqual(
      expect.objectContaining({ metric: 'warpwatch_gpu_memory_used_bytes', labels: { gpu: '0', uuid: exampleGpu.uuid }, reason: 'gpu_lost' }),
    )
  })

  test('one that is no longer listed is told as gone', async () => {
    const { next, tick, put } = await start({ files: { 'q-x.xml': xml } })
    await next()
    put('q-x.xml', printXml(exampleHost([exampleGpu])))
    tick(60_000)
    expect((await next()).gaps).toContainEqual(expect.objectContaining({ metric: 'gpu', labels: { gpu: '1', uuid: second.uuid }, reason: 'gpu_lost' }))
  })
})

describe('when it fails, the source has one gap that says what to do', () => {
  test.each([
    ['4', 'no_permission', 4, /run the agent as root/],
    ['6', 'not_supported', 6, /sees no GPU/],
    ['9', 'driver_error', 9, /modprobe nvidia/],
    ['12', 'not_supported', 12, /NVIDIA_DRIVER_CAPABILITIES=utility/],
    ['15', 'gpu_lost', 15, /fallen off the bus/],
    ['139', 'driver_error', 139, /segmentation fault/],
    ['255', 'driver_error', 255, /NVRM/],
    ['77', 'driver_error', 77, /exit code 77/],
  ])('exit %s', async (exit, reason, code, detail) => {
    const { next } = await start({ files: { exit, stderr: 'it went wrong\n' } })
    const { readings, gaps } = await next()
    expect(readings).toEqual([])
    expect(gaps).toEqual([{ metric: 'nvidia-smi', labels: {}, reason, code, detail: expect.stringMatching(detail) }])
    expect(gaps[0]?.detail).toContain('it went wrong')
  })

  test('it dies by SIGSEGV', async () => {
    const { next } = await start({ files: { segv: '' } })
    expect((await next()).gaps).toEqual([expect.objectContaining({ reason: 'driver_error', code: 139 })])
  })

  test('its words say more than 255', async () => {
    const { next } = await start({ files: { exit: '255', stderr: 'Failed to initialize NVML: Driver/library version mismatch\n' } })
    expect((await next()).gaps).toEqual([expect.objectContaining({ reason: 'driver_error', code: 18, detail: expect.stringContaining('reload the module') })])
  })

  test('output that is no XML, and XML that is cut off', async () => {
    const { next, put, tick } = await start({ files: { 'q-x.xml': 'hello\n' } })
    expect((await next()).gaps).toEqual([expect.objectContaining({ metric: 'nvidia-smi', reason: 'parse_error', detail: expect.stringContaining('hello') })])
    put('q-x.xml', xml.slice(0, 2_000))
    tick(60_000)
    expect((await next()).gaps).toEqual([expect.objectContaining({ reason: 'parse_error', detail: expect.stringContaining('cut off') })])
  })

  test('it is not there; found when it is installed later', async () => {
    const there = await start()
    there.put('q-x.xml', xml)
    const { next } = await startHarness({ commands: ['/nowhere/nvidia-smi'] })
    expect((await next()).gaps).toEqual([
      { metric: 'nvidia-smi', labels: {}, reason: 'not_supported', code: 127, detail: expect.stringContaining('/nowhere/nvidia-smi is not installed') },
    ])
    const other = await startHarness({ commands: ['/nowhere/nvidia-smi', there.command] })
    expect(valueOf(await other.next(), 'gpu_memory_used_bytes', { gpu: '0' })).toBe(1_500 * MIB)
    await other.stop()
  })

  test('it says so once in the log, and when it answers again', async () => {
    const { next, put, tick, logs } = await start({ files: { exit: '9' } })
    for (let round = 0; round < 3; round++) {
      await next()
      tick(60_000)
    }
    await next()
    put('exit', undefined)
    put('q-x.xml', xml)
    tick(60_000)
    await next()
    expect(logs.filter((line) => line.includes('modprobe'))).toHaveLength(1)
    expect(logs.filter((line) => line.includes('answers again'))).toHaveLength(1)
  })
})

describe('one that hangs', () => {
  const alive = (pid: number): boolean => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  }

  test('is killed, told as a timeout, and followed by one more, never by two at once', async () => {
    const { next, tick, runs, put } = await start({ files: { 'q-x.xml': xml, sleep: 'forever' }, deadlineMs: 1_500 })
    for (let second = 0; second < 20; second++) tick()
    const { gaps, readings } = await next()
    expect(readings).toEqual([])
    expect(gaps).toEqual([expect.objectContaining({ metric: 'nvidia-smi', reason: 'timeout', detail: expect.stringContaining('1500 ms') })])
    expect(runs()).toHaveLength(1)
    await expect.poll(() => runs().some(alive)).toBe(false)
    put('sleep', undefined)
    tick(60_000)
    expect(valueOf(await next(), 'gpu_memory_used_bytes', { gpu: '0' })).toBe(1_500 * MIB)
  })

  test('a slow one is asked less often: ten times as long as it took', async () => {
    const { next, tick, runs } = await start({ files: { 'q-x.xml': xml, sleep: '0.7' } })
    const first = await next()
    expect(first.durationMs).toBeGreaterThanOrEqual(700)
    expect(first.ttlMs).toBeGreaterThan(10 * first.durationMs)
    tick(6_000) // later than the period of 5 s, earlier than 10 x 0.7 s
    tick(9 * first.durationMs)
    const second = await next()
    expect(second.t - first.t).toBeGreaterThanOrEqual(10 * first.durationMs)
    expect(runs()).toHaveLength(2)
  })

  test('dies with the source', async () => {
    const harness = await start({ files: { sleep: 'forever' } })
    await expect
      .poll(() => {
        try {
          return harness.runs().length
        } catch {
          return 0
        }
      })
      .toBe(1)
    const [pid = 0] = harness.runs()
    await harness.stop()
    await expect.poll(() => alive(pid)).toBe(false)
  })
})

test('it is silent while NVML answers, and takes all back when NVML answers again', async () => {
  let down = false
  const { next, tick, scrapes } = await start({ files: { 'q-x.xml': xml }, active: () => down })
  tick()
  tick(60_000)
  expect(scrapes()).toEqual([])
  down = true
  tick()
  expect((await next()).readings.length).toBeGreaterThan(50)
  down = false
  tick()
  expect(await next()).toMatchObject({ readings: [], gaps: [] })
  expect(scrapes('age').at(-1)).toMatchObject({ readings: [] })
})
