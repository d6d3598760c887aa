// The highest clocks that the board allows.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { CLOCK_DOMAINS, MHZ } from './parts/clock-domains.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const clockMaxHertz = defineMetric({
  name: 'warpwatch_gpu_clock_max_hertz',
  kind: 'gauge',
  unit: 'Hz',
  help: 'Highest clock frequency by domain.',
  labels: [...GPU_LABELS, 'domain'],
  dcgm: {
    classic: [
      dcgmGauge('DCGM_FI_DEV_MAX_SM_CLOCK', 'Maximum supported SM clock (in MHz).', 1e-6, { domain: 'sm' }),
      dcgmGauge('DCGM_FI_DEV_MAX_MEM_CLOCK', 'Maximum supported memory clock (in MHz).', 1e-6, { domain: 'memory' }),
    ],
  },
  history: false,
})

export const maxClocks: Collector = {
  id: 'max-clocks',
  rate: 'rare',
  metrics: [clockMaxHertz],
  attach: (device) => ({
    read: all(
      CLOCK_DOMAINS.map(({ domain, type }) => gauge(device.query('nvmlDeviceGetMaxClockInfo', [type]), clockMaxHertz, { ...device.labels, domain }, MHZ)),
    ),
  }),
}
