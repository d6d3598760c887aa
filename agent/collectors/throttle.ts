// What holds the clocks down right now.
import { gpuThrottleActive, gpuThrottleReasons } from '../metrics/gpu-clocks.ts'
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Series } from '../model/series.ts'
import type { Attached, Collector } from './collector.ts'
import { firstOf } from './parts/gauges.ts'

/** nvmlClocksEventReason*, by the names of nvidia-smi's query fields. R615 adds two whose bits are not known yet: unknown bits are reported as `bit_0x…`. */
export const REASONS = [
  [0x1, 'gpu_idle'],
  [0x2, 'applications_clocks_setting'],
  [0x4, 'sw_power_cap'],
  [0x8, 'hw_slowdown'],
  [0x10, 'sync_boost'],
  [0x20, 'sw_thermal_slowdown'],
  [0x40, 'hw_thermal_slowdown'],
  [0x80, 'hw_power_brake_slowdown'],
  [0x100, 'display_clocks_setting'],
] as const
const FIRST_UNKNOWN = 9
/** Bits that fit a number exactly. */
const BITS = 53

const bitSet = (mask: number, bit: number): number => Math.floor(mask / 2 ** bit) % 2

function attach(device: Device): Attached {
  // The older name is deprecated since 13.0 and gives the same value.
  const query = firstOf(
    device.query('nvmlDeviceGetCurrentClocksEventReasons', [], ['u64']),
    device.query('nvmlDeviceGetCurrentClocksThrottleReasons', [], ['u64']),
  )
  const known = REASONS.map(([bit, reason]) => ({ bit: Math.log2(bit), series: makeSeries(gpuThrottleActive, { ...device.labels, reason }) }))
  const seen = new Map<number, Series>()
  const whole = makeSeries(gpuThrottleReasons, device.labels)
  return {
    read: (out) => {
      const code = query.ask()
      if (code !== SUCCESS) {
        out.gap(gpuThrottleActive, device.labels, failureOf(query.name, code))
        out.gap(gpuThrottleReasons, device.labels, failureOf(query.name, code))
        return
      }
      const mask = query.values[0] ?? Number.NaN
      out.reading(whole, mask)
      for (const { bit, series } of known) out.reading(series, bitSet(mask, bit))
      if (mask >= 2 ** FIRST_UNKNOWN) {
        for (let bit = FIRST_UNKNOWN; bit < BITS; bit++) {
          if (bitSet(mask, bit) === 1 && !seen.has(bit))
            seen.set(bit, makeSeries(gpuThrottleActive, { ...device.labels, reason: `bit_0x${(2 ** bit).toString(16)}` }))
        }
      }
      for (const [bit, series] of seen) out.reading(series, bitSet(mask, bit))
    },
  }
}

export const throttle: Collector = { id: 'throttle', rate: 'fast', metrics: [gpuThrottleActive, gpuThrottleReasons], attach }
