// What holds the clocks of an AMD card down, in the words that NVIDIA's reasons have: power, current, heat, and the signals from outside the chip.
import { gpuThrottleActive } from '../../metrics/gpu-clocks.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf } from '../../nvml/codes.ts'
import type { CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'
import { tableOf } from './table.ts'

const REASONS = ['sw_power_cap', 'current_limit', 'sw_thermal_slowdown', 'hw_thermal_slowdown'] as const
type Reason = (typeof REASONS)[number]

/** Of `indep_throttle_status` (SMU_THROTTLER_* in Linux, amdgpu_smu.h): power 0–15, current 16–31, temperature 32–55; of these VRHOT and PROCHOT (44–47) come from outside. */
export function reasonOfBit(bit: number): Reason | undefined {
  if (bit < 16) return 'sw_power_cap'
  if (bit < 32) return 'current_limit'
  if (bit >= 44 && bit < 48) return 'hw_thermal_slowdown'
  return bit < 56 ? 'sw_thermal_slowdown' : undefined
}
/** Counters that rise while a limit is reached: MI300 and APUs. */
const COUNTERS: Readonly<Record<string, Reason>> = {
  ppt: 'sw_power_cap',
  spl: 'sw_power_cap',
  fppt: 'sw_power_cap',
  sppt: 'sw_power_cap',
  prochot: 'hw_thermal_slowdown',
  socket_thm: 'sw_thermal_slowdown',
  vr_thm: 'hw_thermal_slowdown',
  hbm_thm: 'sw_thermal_slowdown',
  thm_core: 'sw_thermal_slowdown',
  thm_gfx: 'sw_thermal_slowdown',
  thm_soc: 'sw_thermal_slowdown',
}

export const throttle: CardCollector = {
  id: 'throttle',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuThrottleActive],
  attach(card) {
    const series = REASONS.map((reason) => ({ reason, series: makeSeries(gpuThrottleActive, { ...card.labels, reason }) }))
    let before: Readonly<Record<string, number>> = {}
    return {
      read(out) {
        const table = tableOf(card)
        if (isFailure(table)) return out.gap(gpuThrottleActive, card.labels, table)
        const active = new Set<Reason>()
        const counters = Object.entries(table.residencies)
        if (table.throttle !== undefined) {
          for (let bit = 0; bit < 56; bit++) {
            const reason = (table.throttle >> BigInt(bit)) % 2n === 1n ? reasonOfBit(bit) : undefined
            if (reason !== undefined) active.add(reason)
          }
        } else if (counters.length > 0) {
          const last = before
          before = table.residencies
          // Nothing to compare with yet: the next second has.
          if (Object.keys(last).length === 0) return
          for (const [name, count] of counters) {
            const reason = COUNTERS[name]
            if (reason !== undefined && count > (last[name] ?? count)) active.add(reason)
          }
        } else {
          const why = failureOf(
            `${card.device}/gpu_metrics throttle`,
            -1,
            'not_supported',
            `gpu_metrics ${table.revision} of this card does not tell why clocks are held down`,
          )
          return out.gap(gpuThrottleActive, card.labels, why)
        }
        for (const { reason, series: of } of series) out.reading(of, active.has(reason) ? 1 : 0)
      },
    }
  },
}
