// The power limit in force, and what it may be set to.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { all, gauge, gauges } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

const MILLI = 1e-3

export const powerLimitWatts = defineMetric({
  name: 'warpwatch_gpu_power_limit_watts',
  kind: 'gauge',
  unit: 'W',
  help: 'Power limit in force: the lowest of all that apply.',
  labels: GPU_LABELS,
  dcgm: {
    classic: [
      dcgmGauge('DCGM_FI_DEV_ENFORCED_POWER_LIMIT', 'Effective power limit (in W).'),
      dcgmGauge('DCGM_FI_DEV_POWER_MGMT_LIMIT', 'Current power limit (in W).'),
    ],
  },
})
const limit = (what: 'min' | 'max' | 'default', help: string) =>
  defineMetric({ name: `warpwatch_gpu_power_limit_${what}_watts`, kind: 'gauge', unit: 'W', help, labels: GPU_LABELS, history: false })
export const powerLimitMinWatts = limit('min', 'Lowest power limit that can be set.')
export const powerLimitMaxWatts = limit('max', 'Highest power limit that can be set.')
export const powerLimitDefaultWatts = limit('default', 'Power limit after a reset of the driver.')

export const powerLimits: Collector = {
  id: 'power-limits',
  rate: 'rare',
  metrics: [powerLimitWatts, powerLimitMinWatts, powerLimitMaxWatts, powerLimitDefaultWatts],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetEnforcedPowerLimit'), powerLimitWatts, device.labels, MILLI),
      gauges(device.query('nvmlDeviceGetPowerManagementLimitConstraints', [], ['u32', 'u32']), [
        { metric: powerLimitMinWatts, labels: device.labels, at: 0, scale: MILLI },
        { metric: powerLimitMaxWatts, labels: device.labels, at: 1, scale: MILLI },
      ]),
      gauge(device.query('nvmlDeviceGetPowerManagementDefaultLimit'), powerLimitDefaultWatts, device.labels, MILLI),
    ]),
  }),
}
