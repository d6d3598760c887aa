// Facts in a person's units.
import { describe, expect, test } from 'vitest'
import { factRows, offsetText } from '../../../../dashboard/src/text/facts.ts'

const NOW = new Date(2026, 5, 1, 12, 0, 0).getTime()
const shown = (facts: Parameters<typeof factRows>[0]): Readonly<Record<string, string>> =>
  Object.fromEntries(factRows(facts, NOW).map(({ label, value }) => [label, value]))

describe('facts', () => {
  test('have names in words and figures in their units', () => {
    expect(
      shown({
        requested_bytes: 5.39 * 2 ** 30,
        reserved_unallocated_bytes: 14 * 2 ** 20,
        slope_bytes_per_second: 260 * 2 ** 20,
        temperature_celsius: 91,
        power_limit_watts: 650,
        sm_clock_hertz: 1_980_000_000,
        speed_loss_ratio: 0.25,
        timeout_ms: 600_000,
        latency_ms: 12,
        idle_seconds: 3_700,
        gpu_seconds_lost: 945,
        pcie_width: 8,
        exit_code: 137,
        nccl_version: '2.27.3',
        gpus_lost: ['3', '4'],
      }),
    ).toEqual({
      'Asked for': '5.39 GiB',
      'Reserved, not in use': '14 MiB',
      'Grows by': '260 MiB per second',
      Temperature: '91 °C',
      'Power limit': '650 W',
      'SM clock': '1980 MHz',
      'Speed loss': '25 %',
      Timeout: '10 min',
      Latency: '12 ms',
      Idle: '1 h 1 min',
      'GPU time lost': '15 min 45 s',
      'PCIe width': '8',
      'Exit code': '137',
      'NCCL version': '2.27.3',
      'GPUs lost': '3, 4',
    })
  })
  test('causes come first, in words; moments are times; an empty list and the program’s own GPU number are left out', () => {
    const rows = factRows(
      { gpu_index: 0, since_ms: NOW - 3_600_000, causes: ['capacity', 'other_process'], gpus: [], other_processes: [{ pid: 7, bytes: 2 ** 31 }] },
      NOW,
    )
    expect(rows.map(({ name }) => name)).toEqual(['causes', 'since_ms', 'other_processes'])
    expect(rows[0]?.value).toBe('its own data do not fit on the card; other processes hold the card')
    expect(rows[1]?.value).toMatch(/^11:00 \S+/)
    expect(rows[2]?.value).toBe('2 GiB (pid 7)')
  })
  test('a restart loop counts crashes, reasons are in words, what PyTorch reserved stands beside what it uses', () => {
    const rows = factRows(
      { deaths: 3, allocated_bytes: 1, free_bytes: 2, reserved_bytes: 3, active_reasons: ['sw_thermal_slowdown', 'memory_temperature'] },
      NOW,
      'oom_restart_loop',
    )
    expect(rows.map(({ label }) => label)).toEqual(['Crashes', 'In use by PyTorch', 'Reserved by PyTorch', 'Free', 'Active reasons'])
    expect(rows.at(-1)?.value).toBe('thermally throttled (driver); memory temperature')
    expect(factRows({ since_ms: NOW }, NOW, 'oom_restart_loop')[0]?.label).toBe('First crash')
    expect(factRows({ since_ms: NOW }, NOW, 'memory_leak')[0]?.label).toBe('Grown since')
  })
  test('seconds beside the fault say on which side', () => {
    expect([-63, -1, 0, 12].map(offsetText)).toEqual(['1 min 3 s before', '1 s before', 'at the fault', '12 s after'])
  })
})
