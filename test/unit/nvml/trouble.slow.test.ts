// GPUs in trouble: failing calls, lost and reset GPUs, GPUs that come and go, driver reloads, hangs, crashes, Xid events.
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { functionName } from '../../../agent/nvml/names.ts'
import { parseInFlightCall } from '../../../agent/sampler/protocol.ts'
import { hasFake, startChild, withChild } from '../../fakes/nvml/child.ts'
import { eightH100, fakeUuid, h100, hostOf, withGpu } from '../../fakes/nvml/scenario.ts'

describe.skipIf(!hasFake)('trouble (needs a C compiler)', () => {
  test('a GPU whose every figure has all bits set gives no reading at all, its neighbour all of them, and it heals', async () => {
    const scenario = hostOf(2, () => ({ retired_sbe: 1, retired_dbe: 0, retired_pending: 0, fans: 1, fan: 30 }))
    await withChild(scenario, {}, async (child) => {
      const figures = (round: Awaited<ReturnType<typeof child.scrape>>, gpu: number): number =>
        round.samples.filter(({ index, rate }) => index === gpu && rate !== 'rare').reduce((sum, { values }) => sum + values.length, 0)
      await child.scrape() // rates need two
      const before = figures(await child.scrape(), 0)
      expect(before).toBeGreaterThan(40)
      child.write(withGpu(scenario, 0, { ones: 1 }))
      const wrong = await child.scrape()
      expect(figures(wrong, 0)).toBe(0)
      expect(wrong.processes(0)).toBeUndefined()
      for (const metric of ['gpu_power_watts', 'gpu_memory_used_bytes', 'gpu_temperature_celsius', 'gpu_retired_pages', 'process_gpu_memory_bytes'])
        expect([metric, wrong.gap(metric, { gpu: '0' })?.code]).toEqual([metric, 21])
      expect(wrong.value('gpu_power_watts', { gpu: '1' })).toBe(501)
      child.write(scenario)
      await child.scrape()
      expect(figures(await child.scrape(), 0)).toBe(before)
    })
  })

  test('a failing function is a gap of its own metric only, and of its GPU only', async () => {
    await withChild(
      hostOf(2, (index) => (index === 0 ? { 'ret.nvmlDeviceGetPowerUsage': 999 } : {})),
      {},
      async (child) => {
        const round = await child.scrape()
        expect(round.value('gpu_power_watts', { gpu: '0' })).toBeUndefined()
        expect(round.gap('gpu_power_watts', { gpu: '0' })).toMatchObject({ reason: 'driver_error', code: 999, detail: 'nvmlDeviceGetPowerUsage: UNKNOWN' })
        expect(round.value('gpu_power_watts', { gpu: '1' })).toBe(501)
        expect(round.value('gpu_energy_joules_total', { gpu: '0' })).toBeDefined()
      },
    )
  })

  test('a passing failure heals, a permanent one is asked once', async () => {
    const scenario = hostOf(1)
    await withChild(withGpu(scenario, 0, { 'ret.nvmlDeviceGetPowerUsage': 999, 'ret.nvmlDeviceGetTotalEnergyConsumption': 4 }), {}, async (child) => {
      expect((await child.scrape(['fast'])).gap('gpu_energy_joules_total')).toMatchObject({ reason: 'no_permission', code: 4 })
      child.write(scenario)
      const healed = await child.scrape(['fast'])
      expect(healed.value('gpu_power_watts')).toBe(500)
      expect(healed.gap('gpu_power_watts')).toBeUndefined()
      expect(healed.value('gpu_energy_joules_total')).toBeUndefined()
      expect(healed.gap('gpu_energy_joules_total')).toMatchObject({ reason: 'no_permission', code: 4 })
    })
  })

  test('a GPU that falls off the bus says so in one gap, leaves with the next slow pass, and comes back', async () => {
    const scenario = hostOf(3)
    await withChild(scenario, {}, async (child) => {
      await child.scrape()
      child.write(withGpu(scenario, 1, { lost: 1 }))
      const lost = await child.scrape(['fast'])
      expect(lost.samples.map((sample) => sample.index)).toEqual([0, 1, 2])
      expect(lost.samples[1]).toMatchObject({ uuid: fakeUuid(1), series: [], values: [] })
      expect(lost.gaps.filter((gap) => gap.labels['gpu'] === '1' && gap.metric === 'gpu')).toEqual([
        { metric: 'gpu', labels: { gpu: '1', uuid: fakeUuid(1) }, reason: 'gpu_lost', code: 15, detail: expect.stringContaining('GPU_IS_LOST') },
      ])
      expect(lost.value('gpu_power_watts', { gpu: '2' })).toBe(502)
      const gone = await child.scrape()
      expect(gone.hello?.gpus.map((gpu) => gpu.index)).toEqual([0, 2])
      expect(gone.hello?.lost).toEqual([{ index: 1, reason: 'gpu_lost', code: 15, detail: expect.stringContaining('GPU_IS_LOST') }])
      // Nothing changes while it is away: no new start every ten seconds.
      expect((await child.scrape()).hello).toBeUndefined()
      child.write(scenario)
      const back = await child.scrape()
      expect(back.hello?.lost).toEqual([])
      expect(back.value('gpu_power_watts', { gpu: '1' })).toBe(501)
    })
  })

  test('a GPU that needs a reset stays listed with its reason and is fine afterwards', async () => {
    const scenario = hostOf(2)
    await withChild(withGpu(scenario, 0, { 'ret.nvmlDeviceGetMemoryInfo_v2': 16, 'ret.nvmlDeviceGetClockInfo': 16 }), {}, async (child) => {
      const round = await child.scrape()
      expect(round.gap('gpu', { gpu: '0' })).toMatchObject({ reason: 'reset_required', code: 16 })
      expect(round.values('gpu_memory_used_bytes')).toHaveLength(1)
      child.write(scenario)
      await child.scrape(['fast'])
      const fine = await child.scrape()
      expect(fine.value('gpu_memory_used_bytes', { gpu: '0' })).toBeDefined()
      expect(fine.gap('gpu', { gpu: '0' })).toBeUndefined()
    })
  })

  test('GPUs that appear and vanish are noticed by the slow pass', async () => {
    await withChild(hostOf(2), {}, async (child) => {
      await child.scrape()
      child.write(hostOf(3))
      const more = await child.scrape()
      expect(more.hello?.gpus).toHaveLength(3)
      expect(more.values('gpu_power_watts')).toEqual([500, 501, 502])
      child.write(hostOf(1))
      const fewer = await child.scrape()
      expect(fewer.hello?.gpus).toHaveLength(1)
      expect(fewer.values('gpu_power_watts')).toEqual([500])
    })
  })

  test('a reload of the driver leads to a new start', async () => {
    const scenario = hostOf(1)
    await withChild(scenario, {}, async (child) => {
      await child.scrape()
      child.write({ ...scenario, values: { ...scenario.values, 'ret.device': 1, driver: '610.57.04' } })
      const broken = await child.scrape(['fast'])
      expect(broken.values('gpu_power_watts')).toEqual([])
      child.write({ ...scenario, values: { ...scenario.values, driver: '610.57.04' } })
      const after = await child.scrape()
      expect(after.hello?.driverVersion ?? broken.hello?.driverVersion).toBe('610.57.04')
      expect(after.value('gpu_power_watts')).toBe(500)
    })
  })

  test('a driver that does not come back ends the child with the reason', async () => {
    const scenario = hostOf(1)
    const child = await startChild(scenario)
    if ('type' in child) throw new Error(child.detail)
    child.write({ ...scenario, values: { ...scenario.values, 'ret.device': 1, init: 9 } })
    await expect(child.scrape(['fast'])).rejects.toThrow('nvmlInit_v2: DRIVER_NOT_LOADED')
    await child.close()
  })

  test('while a call hangs, the process name tells which; the GPUs before it are out already; it heals when the hang ends', async () => {
    const scenario = hostOf(3)
    await withChild(scenario, {}, async (child) => {
      child.write(withGpu(scenario, 1, { 'delay.nvmlDeviceGetPowerUsage': 60_000 }))
      const seen: number[] = []
      child.process.on('message', (message: { type: string; index?: number }) => {
        if (message.type === 'gpu') seen.push(message.index ?? -1)
      })
      const pending = child.scrape(['fast'])
      const words = () => parseInFlightCall(readFileSync(`/proc/${child.process.pid}/comm`, 'utf8'))
      await expect.poll(() => seen).toEqual([0])
      await expect.poll(() => functionName(words()?.functionOrdinal ?? -1)).toBe('nvmlDeviceGetPowerUsage')
      expect(words()?.gpu).toBe(1)
      child.write(scenario)
      expect((await pending).value('gpu_power_watts', { gpu: '1' })).toBe(501)
    })
  })

  test('a GPU that is left out is never touched, and a probe touches only its own', async () => {
    // GPU 1 would kill whoever asks it anything.
    const scenario = hostOf(3, (index) => (index === 1 ? { 'crash.nvmlDeviceGetUUID': 1, 'crash.nvmlDeviceGetHandleByIndex_v2': 1 } : {}))
    await withChild(scenario, { leaveOut: [1] }, async (child) => {
      expect(child.hello.gpus.map((gpu) => gpu.index)).toEqual([0, 2])
      expect((await child.scrape()).values('gpu_power_watts')).toEqual([500, 502])
    })
    await withChild(scenario, { only: 2 }, async (child) => {
      expect(child.hello.gpus.map((gpu) => gpu.index)).toEqual([2])
      expect((await child.scrape()).values('gpu_power_watts')).toEqual([502])
    })
  })

  test('a crash in the library ends the child, nothing else', async () => {
    const scenario = hostOf(1)
    const child = await startChild(scenario)
    if ('type' in child) throw new Error(child.detail)
    const ended = once(child.process, 'exit')
    child.write(withGpu(scenario, 0, { 'crash.nvmlDeviceGetPowerUsage': 1 }))
    await expect(child.scrape(['fast'])).rejects.toThrow('the child ended')
    expect(await ended).toEqual([null, 'SIGSEGV'])
    await child.close()
  })

  test('Xid events come once, with the sample of their GPU, also that of a GPU that falls off the bus', async () => {
    const scenario = hostOf(2)
    await withChild(scenario, {}, async (child) => {
      await child.scrape(['fast'])
      const xids = [
        { sequence: 1, xid: 43, gi: 1, ci: 0 },
        { sequence: 2, xid: 79 },
      ]
      child.write(withGpu(scenario, 1, { lost: 1 }, { xids }))
      const round = await child.scrape(['fast'])
      expect(round.samples.find((sample) => sample.index === 1)?.xids).toEqual([{ xid: 43, gi: 1, ci: 0 }, { xid: 79 }])
      expect(round.samples.find((sample) => sample.index === 0)?.xids).toBeUndefined()
      expect((await child.scrape(['fast'])).samples.every((sample) => sample.xids === undefined)).toBe(true)
    })
  })

  test('no event set (WSL2) takes nothing else away, and is told', async () => {
    await withChild(
      hostOf(1, () => ({ events: undefined }), { 'ret.nvmlEventSetCreate': 3 }),
      {},
      async (child) => {
        expect((await child.scrape()).value('gpu_power_watts')).toBe(500)
        expect(child.hello.gpus[0]?.xidGap).toMatchObject({ reason: 'not_supported', code: 3, detail: 'nvmlEventSetCreate: NOT_SUPPORTED' })
      },
    )
  })

  test('a GPU whose Xids cannot be heard of is told by itself, the other one is watched', async () => {
    await withChild(
      hostOf(2, (index) => (index === 0 ? { 'ret.nvmlDeviceRegisterEvents': 4 } : {})),
      {},
      async (child) => {
        expect(child.hello.gpus.map((gpu) => gpu.xidGap?.reason)).toEqual(['no_permission', undefined])
      },
    )
  })

  test('a GPU lost from the start is told in the hello and the others are read', async () => {
    const scenario = { ...eightH100(), gpus: [h100(0), h100(1, { lost: 1 }), h100(2)] }
    await withChild(scenario, {}, async (child) => {
      expect(child.hello.gpus.map((gpu) => gpu.index)).toEqual([0, 2])
      expect(child.hello.lost).toMatchObject([{ index: 1, reason: 'gpu_lost', code: 15 }])
      expect((await child.scrape()).values('gpu_power_watts')).toEqual([500, 502])
    })
  })
})
