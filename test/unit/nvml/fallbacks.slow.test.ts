// Older drivers: missing symbols, older process lists, the 32-byte entries of early R535, and lists that grow between two calls.
import { describe, expect, test } from 'vitest'
import { hasFake, startChild, withChild } from '../../fakes/nvml/child.ts'
import { eightH100, FIRST_PID, hostOf, withGpu } from '../../fakes/nvml/scenario.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2
const rows = Array.from({ length: 5 }, (_, n) => ({ pid: FIRST_PID + n, type: 'C', bytes: (6 + n) * GIB }))

describe.skipIf(!hasFake)('fall-backs (needs a C compiler)', () => {
  test('R450: memory v1 with a gap for reserved, old temperature, 16-byte process entries', async () => {
    await withChild(eightH100(undefined, { driver: '450.248.02' }), { profile: 'r450' }, async (child) => {
      const round = await child.scrape()
      expect(round.value('gpu_memory_used_bytes', { gpu: '0' })).toBe(40 * GIB + 551 * MIB)
      expect(round.value('gpu_memory_reserved_bytes')).toBeUndefined()
      expect(round.gap('gpu_memory_reserved_bytes', { gpu: '0' })).toMatchObject({ reason: 'not_supported', code: 13 })
      expect(round.value('gpu_temperature_celsius', { gpu: '3' })).toBe(53)
      expect(round.value('gpu_throttle_active', { gpu: '0', reason: 'sw_power_cap' })).toBe(1)
      expect(round.gap('gpu_gpm_sm_active_ratio', { gpu: '0' })).toMatchObject({ reason: 'not_supported', code: 13 })
      expect(round.processes(0)).toEqual(rows)
    })
  })

  test('R470: process lists v2', async () => {
    await withChild(eightH100(), { profile: 'r470' }, async (child) => expect((await child.scrape()).processes(0)).toEqual(rows))
  })

  test('a v3 that refuses its version is replaced by v2', async () => {
    await withChild(withGpu(eightH100(), 0, { 'ret.nvmlDeviceGetComputeRunningProcesses_v3': 13 }), {}, async (child) =>
      expect((await child.scrape(['fast'])).processes(0)).toEqual(rows),
    )
  })

  test.each([0, 2_097_152])('early R535 writes 32-byte entries (protected memory %i)', async (protectedBytes) => {
    const scenario = eightH100(() => ({ protected: protectedBytes }), { stride3: 32, driver: '535.54.03' })
    await withChild(scenario, { profile: 'r535early' }, async (child) => {
      expect((await child.scrape(['fast'])).processes(0)).toEqual(rows)
      expect((await child.scrape(['fast'])).processes(7)).toHaveLength(5)
    })
  })

  test('32-byte entries are found by what the driver wrote, even where its symbols look newer', async () => {
    await withChild(eightH100(undefined, { stride3: 32 }), { profile: 'full' }, async (child) =>
      expect((await child.scrape(['fast'])).processes(0)).toEqual(rows),
    )
  })

  test('24-byte entries with the symbols of early R535 are read as what they are', async () => {
    await withChild(eightH100(), { profile: 'r535early' }, async (child) => expect((await child.scrape(['fast'])).processes(0)).toEqual(rows))
  })

  test('a list that grows between calls, and one longer than the first buffer', async () => {
    const many = Array.from({ length: 300 }, (_, n) => ({ pid: 1000 + n, bytes: MIB }))
    await withChild(withGpu(hostOf(2), 0, { grow: 3 }, { processes: many }), {}, async (child) => {
      expect((await child.scrape(['fast'])).processes(0)?.map((row) => row.pid)).toEqual(many.map((row) => row.pid))
    })
  })

  test('a list that grows for ever is a gap, not a loop', async () => {
    await withChild(withGpu(eightH100(), 0, { grow: 1_000_000 }), {}, async (child) => {
      const round = await child.scrape(['fast'])
      expect(round.processes(0)).toBeUndefined()
      expect(round.gap('process_gpu_memory_bytes', { gpu: '0' })).toMatchObject({ reason: 'driver_error', code: 7 })
      expect(round.processes(1)).toHaveLength(5)
    })
  })

  test('a driver that lacks nearly everything still tells memory and temperature', async () => {
    await withChild(hostOf(1), { profile: 'bare' }, async (child) => {
      const round = await child.scrape()
      expect(round.value('gpu_memory_used_bytes')).toBe(40 * GIB)
      expect(round.value('gpu_temperature_celsius')).toBe(50)
      const missing = ['gpu_utilization_ratio', 'gpu_power_watts', 'gpu_memory_temperature_celsius', 'gpu_recovery_action'].map((metric) => round.gap(metric))
      expect(missing.map((gap) => [gap?.reason, gap?.code])).toEqual(missing.map(() => ['not_supported', 13]))
    })
  })

  test('throttle times by temperature only from R590 on, where the numbers are sure', async () => {
    const values = { 'field.269': 2_000_000_000, 'field.251': 9_000_000_000 }
    await withChild(
      hostOf(1, () => values, { driver: '580.95.05' }),
      {},
      async (child) => {
        const round = await child.scrape()
        expect(round.value('gpu_throttle_seconds_total', { reason: 'sw_thermal_slowdown' })).toBeUndefined()
        expect(round.gap('gpu_throttle_seconds_total', { reason: 'sw_thermal_slowdown' })?.detail).toContain('before R590')
        expect(round.value('gpu_throttle_seconds_total', { reason: 'sw_power_cap' })).toBe(1.5)
      },
    )
    await withChild(
      hostOf(1, () => values),
      {},
      async (child) => expect((await child.scrape()).value('gpu_throttle_seconds_total', { reason: 'sw_thermal_slowdown' })).toBe(2),
    )
  })

  test('the first path that loads is taken; none is one sentence', async () => {
    const failed = await startChild(hostOf(1), { libraries: ['/nowhere/libnvidia-ml.so.1', '/etc/hostname'] })
    expect(failed).toMatchObject({ type: 'failed', reason: 'not_supported' })
    expect('detail' in failed && failed.detail).toMatch(/^no libnvidia-ml could be loaded \(\/nowhere\/libnvidia-ml\.so\.1: .*; \/etc\/hostname: .*\)$/)
  })

  test.each([
    [9, 'driver_error', 'DRIVER_NOT_LOADED'],
    [18, 'driver_error', 'LIB_RM_VERSION_MISMATCH'],
    [4, 'no_permission', 'NO_PERMISSION'],
    [999, 'driver_error', 'UNKNOWN'],
  ])('init that answers %i fails with its reason', async (init, reason, name) => {
    expect(await startChild(hostOf(1, undefined, { init }))).toEqual({ type: 'failed', reason, code: init, detail: `nvmlInit_v2: ${name}` })
  })
})
