// The power limit in force, and what it may be set to.
import { gpuPowerLimitDefaultWatts, gpuPowerLimitMaxWatts, gpuPowerLimitMinWatts, gpuPowerLimitWatts } from '../metrics/gpu-power.ts'
import type { Collector } from './collector.ts'
import { all, gauge, gauges } from './parts/gauges.ts'

const MILLI = 1e-3

export const powerLimits: Collector = {
  id: 'power-limits',
  rate: 'rare',
  metrics: [gpuPowerLimitWatts, gpuPowerLimitMinWatts, gpuPowerLimitMaxWatts, gpuPowerLimitDefaultWatts],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetEnforcedPowerLimit'), gpuPowerLimitWatts, device.labels, MILLI),
      gauges(device.query('nvmlDeviceGetPowerManagementLimitConstraints', [], ['u32', 'u32']), [
        { metric: gpuPowerLimitMinWatts, labels: device.labels, at: 0, scale: MILLI },
        { metric: gpuPowerLimitMaxWatts, labels: device.labels, at: 1, scale: MILLI },
      ]),
      gauge(device.query('nvmlDeviceGetPowerManagementDefaultLimit'), gpuPowerLimitDefaultWatts, device.labels, MILLI),
    ]),
  }),
}
