// What holds the clocks down right now.
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import { defineMetric } from '../model/metric.ts'
import { makeSeries } from '../model/series.ts'
import type { Series } from '../model/series.ts'
import type { Attached, Collector } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { firstOf } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const throttleActive = defineMetric({
  name: 'warpwatch_gpu_throttle_active',
  kind: 'gauge',
  unit: '1',
  help: 'Whether a reason holds the clocks down now (1) or not (0). Harmless: gpu_idle, applications_clocks_setting, sync_boost, sw_power_cap under load.',
  labels: [...GPU_LABELS, 'reason'],
})
export const throttleReasons = defineMetric({
  name: 'warpwatch_gpu_throttle_reasons',
  kind: 'gauge',
  unit: '1',
  help: 'The reasons that hold the clocks down now, as NVML gives them: a bit mask.',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_CLOCK_THROTTLE_REASONS', 'Current clock throttle reasons (bitmask of DCGM_CLOCKS_THROTTLE_REASON_*).')] },
  history: false,
})

/** nvmlClocksEventReason*, by the names of nvidia-smi's query fields. R615 adds two whose bits are not known yet: unknown bits are told as `bit_0x…`. */
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
  const known = REASONS.map(([bit, reason]) => ({ bit: Math.log2(bit), series: makeSeries(throttleActive, { ...device.labels, reason }) }))
  const seen = new Map<number, Series>()
  const whole = makeSeries(throttleReasons, device.labels)
  return {
    read: (out) => {
      const code = query.ask()
      if (code !== SUCCESS) {
        out.gap(throttleActive, device.labels, failureOf(query.name, code))
        out.gap(throttleReasons, device.labels, failureOf(query.name, code))
        return
      }
      const mask = query.values[0] ?? Number.NaN
      out.reading(whole, mask)
      for (const { bit, series } of known) out.reading(series, bitSet(mask, bit))
      if (mask >= 2 ** FIRST_UNKNOWN) {
        for (let bit = FIRST_UNKNOWN; bit < BITS; bit++) {
          if (bitSet(mask, bit) === 1 && !seen.has(bit))
            seen.set(bit, makeSeries(throttleActive, { ...device.labels, reason: `bit_0x${(2 ** bit).toString(16)}` }))
        }
      }
      for (const [bit, series] of seen) out.reading(series, bitSet(mask, bit))
    },
  }
}

export const throttle: Collector = { id: 'throttle', rate: 'fast', metrics: [throttleActive, throttleReasons], attach }
