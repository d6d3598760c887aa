// How long each reason has held the clocks down. NVML counts nanoseconds (nvidia-smi divides by 1000 and prints µs).
import { gpuThrottleSecondsTotal } from '../metrics/gpu-clocks.ts'
import { NOT_SUPPORTED, failureOf } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import type { Attached, Collector } from './collector.ts'
import { all, fieldGauges } from './parts/gauges.ts'

const ALWAYS = [
  { id: 74, reason: 'sw_power_cap' },
  { id: 76, reason: 'sync_boost' },
] as const
/**
 * R575 and R580 knew these three as 251 to 253, numbers that mean power smoothing in R570, and R580 later went back to those:
 * only from R590 on is a number sure to mean what it says (NVML headers 12.8, 12.9, 13.1; change log of v580).
 */
const FROM_R590 = [
  { id: 269, reason: 'sw_thermal_slowdown' },
  { id: 270, reason: 'hw_thermal_slowdown' },
  { id: 271, reason: 'hw_power_brake_slowdown' },
] as const
const NS = 1e-9

function attach(device: Device): Attached {
  const sure = Number.parseInt(device.driverVersion, 10) >= 590
  const asked = sure ? [...ALWAYS, ...FROM_R590] : ALWAYS
  const parts = asked.map(({ reason }, at) => ({ metric: gpuThrottleSecondsTotal, labels: { ...device.labels, reason }, at, scale: NS }))
  const read = fieldGauges(device.fields(asked), parts)
  if (sure) return { read }
  const detail = `driver ${device.driverVersion || 'of unknown version'}: before R590 the numbers of these counters differ between patch levels`
  const missing = FROM_R590.map(({ id, reason }) => ({
    labels: { ...device.labels, reason },
    failure: failureOf(`field ${id} of driver ${device.driverVersion}`, NOT_SUPPORTED, 'not_supported', detail),
  }))
  return {
    read: all([
      read,
      (out) => {
        for (const { labels, failure } of missing) out.gap(gpuThrottleSecondsTotal, labels, failure)
      },
    ]),
  }
}

export const throttleTime: Collector = { id: 'throttle-time', rate: 'slow', metrics: [gpuThrottleSecondsTotal], attach }
