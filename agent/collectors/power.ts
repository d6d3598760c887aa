// Power draw now, and the energy counter from which averages over any time follow.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const powerWatts = defineMetric({
  name: 'warpwatch_gpu_power_watts',
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
export const energyJoules = defineMetric({
  name: 'warpwatch_gpu_energy_joules_total',
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

export const power: Collector = {
  id: 'power',
  rate: 'fast',
  metrics: [powerWatts, energyJoules],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetPowerUsage'), powerWatts, device.labels, 1e-3), // mW
      gauge(device.query('nvmlDeviceGetTotalEnergyConsumption', [], ['u64']), energyJoules, device.labels, 1e-3), // mJ
    ]),
  }),
}
