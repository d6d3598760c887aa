// The power limit in force, and what it may be set to.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import type { MetricDef } from '../model/metric.ts'
import { dcgmGauge, renamed } from './parts/dcgm.ts'
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
const limit = (what: 'min' | 'max' | 'default', help: string, dcgm: NonNullable<MetricDef['dcgm']>) =>
  defineMetric({ name: `warpwatch_gpu_power_limit_${what}_watts`, kind: 'gauge', unit: 'W', help, labels: GPU_LABELS, dcgm, history: false })
export const powerLimitMinWatts = limit(
  'min',
  'Lowest power limit that can be set.',
  renamed(dcgmGauge('DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN', 'Minimum power limit (in W).'), 'DCGM_FI_DEV_BOARD_POWER_LIMIT_MIN_WATTS'),
)
export const powerLimitMaxWatts = limit(
  'max',
  'Highest power limit that can be set.',
  renamed(dcgmGauge('DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX', 'Maximum power limit (in W).'), 'DCGM_FI_DEV_BOARD_POWER_LIMIT_MAX_WATTS'),
)
export const powerLimitDefaultWatts = limit(
  'default',
  'Power limit after a reset of the driver.',
  renamed(dcgmGauge('DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF', 'Default power limit (in W).'), 'DCGM_FI_DEV_BOARD_POWER_LIMIT_DEFAULT_WATTS'),
)

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
