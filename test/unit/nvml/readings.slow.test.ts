// What a sampler child reads through the real calling path (koffi, IPC) from the fake library: GPUs, MIG instances, processes.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { functionName } from '../../../agent/nvml/names.ts'
import { parseInFlightCall } from '../../../agent/sampler/protocol.ts'
import { hasFake, withChild } from '../../fakes/nvml/child.ts'
import { eightH100, fakeUuid, FIRST_MIG_PID, FIRST_PID, h100, hostOf, migH100, withGpu } from '../../fakes/nvml/scenario.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2

describe.skipIf(!hasFake)('readings (needs a C compiler)', () => {
  test('all readings of all eight GPUs carry the numbers of their GPU', async () => {
    await withChild(eightH100(), {}, async (child) => {
      expect(child.hello.driverVersion).toBe('590.48.01')
      expect(child.hello.lost).toEqual([])
      expect(child.hello.gpus.map((gpu) => [gpu.index, gpu.uuid])).toEqual(Array.from({ length: 8 }, (_, index) => [index, fakeUuid(index)]))
      expect(child.hello.gpus[1]).toEqual({
        index: 1,
        computeCapability: '9.0',
        uuid: fakeUuid(1),
        name: 'NVIDIA H100 80GB HBM3',
        pciBusId: '00000000:2B:00.0',
      })
      const round = await child.scrape()
      for (let index = 0; index < 8; index++) {
        const of = (metric: string, labels = {}) => round.value(metric, { gpu: String(index), uuid: fakeUuid(index), ...labels })
        expect({
          total: of('gpu_memory_total_bytes'),
          used: of('gpu_memory_used_bytes'),
          reserved: of('gpu_memory_reserved_bytes'),
          free: of('gpu_memory_free_bytes'),
          peak: of('gpu_memory_used_peak_bytes'),
          utilization: of('gpu_utilization_ratio'),
          memoryUtilization: of('gpu_memory_utilization_ratio'),
          power: of('gpu_power_watts'),
          limit: of('gpu_power_limit_watts'),
          energy: of('gpu_energy_joules_total'),
          temperature: of('gpu_temperature_celsius'),
          memoryTemperature: of('gpu_memory_temperature_celsius'),
          sm: of('gpu_clock_hertz', { domain: 'sm' }),
          memoryClock: of('gpu_clock_hertz', { domain: 'memory' }),
          maxSm: of('gpu_clock_max_hertz', { domain: 'sm' }),
          state: of('gpu_performance_state'),
          capped: of('gpu_throttle_active', { reason: 'sw_power_cap' }),
          hot: of('gpu_throttle_active', { reason: 'hw_thermal_slowdown' }),
          cappedSeconds: of('gpu_throttle_seconds_total', { reason: 'sw_power_cap' }),
          replays: of('gpu_pcie_replay_total'),
          width: of('gpu_pcie_link_width'),
          corrected: of('gpu_ecc_errors_total', { type: 'corrected', scope: 'aggregate' }),
          remapped: of('gpu_remapped_rows', { type: 'uncorrected' }),
          links: round.values('gpu_nvlink_active', { gpu: String(index) }).length,
          recovery: of('gpu_recovery_action'),
          info: of('gpu_info', { minor: String(index), driver_version: '590.48.01', cuda_version: '13.1', vbios_version: '96.00.89.00.01' }),
        }).toEqual({
          total: 81559 * MIB,
          used: (40 + index) * GIB,
          reserved: 551 * MIB,
          free: 81559 * MIB - (40 + index) * GIB - 551 * MIB,
          peak: (40 + index) * GIB,
          utilization: (90 + index) / 100,
          memoryUtilization: (40 + index) / 100,
          power: 500 + index,
          limit: 700,
          energy: (123_456_789 + index) / 1000,
          temperature: 50 + index,
          memoryTemperature: 60 + index,
          sm: 1_755_000_000,
          memoryClock: 2_619_000_000,
          maxSm: 1_980_000_000,
          state: 0,
          capped: 1,
          hot: 0,
          cappedSeconds: (1_500_000_000 + index) / 1e9,
          replays: index,
          width: 16,
          corrected: index,
          remapped: 0,
          links: 18,
          recovery: 0,
          info: 1,
        })
        expect(round.processes(index)?.map((row) => [row.pid, row.type, row.bytes])).toEqual(
          Array.from({ length: 5 }, (_, n) => [FIRST_PID + index * 5 + n, 'C', (6 + n) * GIB]),
        )
      }
    })
  })

  test('a board without fans and retired pages has gaps for them, told once', async () => {
    await withChild(hostOf(1), {}, async (child) => {
      const first = await child.scrape()
      expect(first.value('gpu_fan_speed_ratio')).toBeUndefined()
      expect(first.gap('gpu_fan_speed_ratio')).toEqual({
        metric: 'warpwatch_gpu_fan_speed_ratio',
        labels: { gpu: '0', uuid: fakeUuid(0) },
        reason: 'not_supported',
        code: 3,
        detail: 'nvmlDeviceGetFanSpeed: NOT_SUPPORTED',
      })
      const second = await child.scrape()
      expect(second.samples.map((sample) => sample.gaps)).toEqual([undefined, undefined, undefined])
      expect(second.gap('gpu_fan_speed_ratio')).toBeDefined()
    })
  })

  test('values follow the driver from pass to pass', async () => {
    const scenario = hostOf(2)
    await withChild(scenario, {}, async (child) => {
      await child.scrape(['fast'])
      child.write(withGpu(scenario, 1, { power: 123_000, util: 7, temp: 31, fan: 130, reasons: 0x48, retired_sbe: 3, retired_dbe: 0, retired_pending: 1 }))
      const round = await child.scrape()
      expect(round.value('gpu_power_watts', { gpu: '1' })).toBe(123)
      expect(round.value('gpu_power_watts', { gpu: '0' })).toBe(500)
      expect(round.value('gpu_utilization_ratio', { gpu: '1' })).toBe(0.07)
      expect(round.value('gpu_fan_speed_ratio', { gpu: '1' })).toBe(1.3)
      expect(round.value('gpu_retired_pages', { gpu: '1', cause: 'single_bit' })).toBe(3)
      expect(round.value('gpu_retired_pages_pending', { gpu: '1' })).toBe(1)
      const active = ['hw_slowdown', 'hw_thermal_slowdown', 'sw_power_cap'].map((reason) => round.value('gpu_throttle_active', { gpu: '1', reason }))
      expect(active).toEqual([1, 1, 0])
    })
  })

  test('an unknown throttle bit is told by its number, and goes back to 0', async () => {
    const scenario = hostOf(1, () => ({ reasons: 0x200 }))
    await withChild(scenario, {}, async (child) => {
      expect((await child.scrape(['fast'])).value('gpu_throttle_active', { reason: 'bit_0x200' })).toBe(1)
      child.write(withGpu(scenario, 0, { reasons: 0 }))
      expect((await child.scrape(['fast'])).value('gpu_throttle_active', { reason: 'bit_0x200' })).toBe(0)
    })
  })

  test('MIG instances have their own memory, identity and GPM ratios; utilization is a gap', async () => {
    await withChild({ ...hostOf(1), gpus: [migH100(0), h100(1)] }, {}, async (child) => {
      await child.scrape()
      const round = await child.scrape()
      for (const [gi, used] of [
        ['1', 10 * GIB],
        ['2', 5 * GIB],
      ] as const) {
        expect(round.value('gpu_memory_used_bytes', { gpu: '0', uuid: fakeUuid(0), gi, ci: '0' })).toBe(used)
        expect(round.value('gpu_memory_total_bytes', { gpu: '0', gi, ci: '0' })).toBe(40 * GIB)
        expect(round.value('gpu_mig_info', { gi, mig_uuid: `MIG-00000000-0000-4000-9000-00000000000${gi}` })).toBe(1)
        expect(round.value('gpu_mig_multiprocessors', { gi, ci: '0' })).toBe(60)
      }
      expect(round.value('gpu_gpm_engine_active_ratio', { gi: '1' })).toBe(0.7)
      expect(round.value('gpu_gpm_engine_active_ratio', { gi: '2' })).toBe(0.1)
      expect(round.gap('gpu_utilization_ratio', { gpu: '0' })?.reason).toBe('not_supported')
      expect(round.value('gpu_utilization_ratio', { gpu: '1' })).toBe(0.91)
      expect(round.value('gpu_mig_enabled', { gpu: '0' })).toBe(1)
      expect(round.value('gpu_mig_enabled', { gpu: '1' })).toBe(0)
      // The GPU's own list has the same processes: each is once.
      expect(round.processes(0)).toEqual([
        { pid: FIRST_MIG_PID, type: 'C', bytes: 9 * GIB, gi: 1, ci: 0 },
        { pid: FIRST_MIG_PID + 1, type: 'C', bytes: 4 * GIB, gi: 2, ci: 0 },
      ])
    })
  })

  test('instances that are cut while the child runs appear with the next slow pass', async () => {
    const scenario = hostOf(1)
    await withChild(scenario, {}, async (child) => {
      expect((await child.scrape()).values('gpu_memory_used_bytes')).toHaveLength(1)
      child.write({ ...scenario, gpus: [migH100(0)] })
      expect((await child.scrape()).values('gpu_memory_used_bytes')).toHaveLength(3)
      child.write(scenario)
      expect((await child.scrape()).values('gpu_memory_used_bytes')).toHaveLength(1)
    })
  })

  test('GPM and byte counters give rates from the second pass on', async () => {
    const scenario = hostOf(1)
    await withChild(scenario, {}, async (child) => {
      const first = await child.scrape()
      expect(first.value('gpu_gpm_tensor_active_ratio')).toBeUndefined()
      expect(first.value('gpu_pcie_throughput_bytes_per_second')).toBeUndefined()
      expect(first.value('gpu_nvlink_bytes_total', { direction: 'tx' })).toBe(1_000_000 * 1024)
      child.write(withGpu(scenario, 0, { 'field.197': 5_000_001_000, 'field.139': 2_000_001 }))
      const second = await child.scrape()
      expect(second.value('gpu_gpm_tensor_active_ratio')).toBe(0.55)
      expect(second.value('gpu_gpm_sm_active_ratio')).toBe(0.8025)
      expect(second.value('gpu_pcie_throughput_bytes_per_second', { direction: 'tx' })).toBeGreaterThan(0)
      expect(second.value('gpu_pcie_throughput_bytes_per_second', { direction: 'rx' })).toBe(0)
      expect(second.value('gpu_nvlink_throughput_bytes_per_second')).toBeGreaterThan(0)
      // One KiB was received and none sent, so that the sum of both is what was received.
      expect(first.value('gpu_nvlink_direction_bytes_per_second', { direction: 'rx' })).toBeUndefined()
      expect(second.value('gpu_nvlink_direction_bytes_per_second', { direction: 'tx' })).toBe(0)
      const received = second.value('gpu_nvlink_direction_bytes_per_second', { direction: 'rx' })
      expect(received).toBe(second.value('gpu_nvlink_throughput_bytes_per_second'))
    })
  })

  test('process lists of all kinds are merged, and unknown memory stays unknown', async () => {
    const processes = [
      { pid: 1, bytes: 5 * GIB, type: 'C' },
      { pid: 1, bytes: 5 * GIB, type: 'G' },
      { pid: 2, type: 'C' },
      { pid: 3, bytes: MIB, type: 'M' },
    ] as const
    await withChild(withGpu(hostOf(1), 0, {}, { processes }), {}, async (child) => {
      expect((await child.scrape(['fast'])).processes(0)).toEqual([
        { pid: 1, type: 'C+G', bytes: 5 * GIB },
        { pid: 2, type: 'C', bytes: null },
        { pid: 3, type: 'M', bytes: MIB },
      ])
    })
  })

  test('memory that rises and falls between two scrapes shows in the peak', async () => {
    const scenario = hostOf(1)
    await withChild(scenario, { peakHz: 100 }, async (child) => {
      await child.scrape(['fast'])
      child.write(withGpu(scenario, 0, { mem_used: 70 * GIB }))
      // No scrape asks for memory now: only the child's own timer can see the peak. Its last words tell when it has asked, and a round trip that it is done.
      await child.scrape(['rare'])
      const words = () => parseInFlightCall(readFileSync(`/proc/${child.process.pid}/comm`, 'utf8'))
      await expect.poll(() => functionName(words()?.functionOrdinal ?? -1), { interval: 1 }).toBe('nvmlDeviceGetMemoryInfo_v2')
      await child.scrape(['rare'])
      child.write(scenario)
      const after = await child.scrape(['fast'])
      expect(after.value('gpu_memory_used_bytes')).toBe(40 * GIB)
      expect(after.value('gpu_memory_used_peak_bytes')).toBe(70 * GIB)
    })
  })
})
