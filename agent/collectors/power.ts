// Power draw now, and the energy counter from which averages over any time follow.
import { gpuEnergyJoulesTotal, gpuPowerWatts } from '../metrics/gpu-power.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

export const power: Collector = {
  id: 'power',
  rate: 'fast',
  metrics: [gpuPowerWatts, gpuEnergyJoulesTotal],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetPowerUsage'), gpuPowerWatts, device.labels, 1e-3), // mW
      gauge(device.query('nvmlDeviceGetTotalEnergyConsumption', [], ['u64']), gpuEnergyJoulesTotal, device.labels, 1e-3), // mJ
    ]),
  }),
}
