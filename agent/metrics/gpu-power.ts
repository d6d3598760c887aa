// Power draw, energy and power limits.
import { defineMetric, type MetricDef } from '../model/metric.ts'
import { dcgmGauge, renamed } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuPowerWatts = defineMetric({
  name: 'warpwatch_gpu_power_watts',
  subject: 'gpu',
  field: 'power_watts',
  kind: 'gauge',
  unit: 'W',
  help: 'Power draw: the average of the last second on Ampere (GA100 aside) and newer, instantaneous on older GPUs; about 5 % accurate.',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_POWER_USAGE', kind: 'gauge', help: 'Power draw (in W).', scale: 1 }],
    current: [{ name: 'DCGM_FI_DEV_BOARD_POWER_WATTS', kind: 'gauge', help: 'Power draw (in W).', scale: 1 }],
  },
  otel: [{ name: 'hw.power', attributes: { 'hw.type': 'gpu' } }],
})
export const gpuEnergyJoulesTotal = defineMetric({
  name: 'warpwatch_gpu_energy_joules_total',
  subject: 'gpu',
  field: 'energy_joules_total',
  kind: 'counter',
  unit: 'J',
  help: 'Energy drawn since the driver was loaded (Volta and newer).',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', kind: 'counter', help: 'Total energy consumption since boot (in mJ).', scale: 1000 }],
    current: [{ name: 'DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL', kind: 'counter', help: 'Total energy consumption since boot (in J).', scale: 1 }],
  },
  otel: [{ name: 'hw.energy', attributes: { 'hw.type': 'gpu' } }],
})
export const gpuPowerLimitWatts = defineMetric({
  name: 'warpwatch_gpu_power_limit_watts',
  subject: 'gpu',
  field: 'power_limit_watts',
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
  defineMetric({
    name: `warpwatch_gpu_power_limit_${what}_watts`,
    subject: 'gpu',
    field: `power_limit_${what}_watts`,
    kind: 'gauge',
    unit: 'W',
    help,
    labels: GPU_LABELS,
    dcgm,
    history: false,
  })
export const gpuPowerLimitMinWatts = limit(
  'min',
  'Lowest power limit that can be set.',
  renamed(dcgmGauge('DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN', 'Minimum power limit (in W).'), 'DCGM_FI_DEV_BOARD_POWER_LIMIT_MIN_WATTS'),
)
export const gpuPowerLimitMaxWatts = limit(
  'max',
  'Highest power limit that can be set.',
  renamed(dcgmGauge('DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX', 'Maximum power limit (in W).'), 'DCGM_FI_DEV_BOARD_POWER_LIMIT_MAX_WATTS'),
)
export const gpuPowerLimitDefaultWatts = limit(
  'default',
  'Power limit after a reset of the driver.',
  renamed(dcgmGauge('DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF', 'Default power limit (in W).'), 'DCGM_FI_DEV_BOARD_POWER_LIMIT_DEFAULT_WATTS'),
)
