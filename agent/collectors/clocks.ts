// Clocks as they are now.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { CLOCK_DOMAINS, MHZ } from './parts/clock-domains.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const clockHertz = defineMetric({
  name: 'warpwatch_gpu_clock_hertz',
  kind: 'gauge',
  unit: 'Hz',
  help: 'Clock frequency by domain.',
  labels: [...GPU_LABELS, 'domain'],
  dcgm: {
    classic: [
      dcgmGauge('DCGM_FI_DEV_SM_CLOCK', 'SM clock frequency (in MHz).', 1e-6, { domain: 'sm' }),
      dcgmGauge('DCGM_FI_DEV_MEM_CLOCK', 'Memory clock frequency (in MHz).', 1e-6, { domain: 'memory' }),
    ],
    current: [
      dcgmGauge('DCGM_FI_DEV_SM_CLOCK_HERTZ', 'SM clock frequency (in Hz).', 1, { domain: 'sm' }),
      dcgmGauge('DCGM_FI_DEV_MEMORY_CLOCK_HERTZ', 'Memory clock frequency (in Hz).', 1, { domain: 'memory' }),
    ],
  },
})

export const clocks: Collector = {
  id: 'clocks',
  rate: 'fast',
  metrics: [clockHertz],
  attach: (device) => ({
    read: all(CLOCK_DOMAINS.map(({ domain, type }) => gauge(device.query('nvmlDeviceGetClockInfo', [type]), clockHertz, { ...device.labels, domain }, MHZ))),
  }),
}
