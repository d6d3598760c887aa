// Clocks as they are now.
import { gpuClockHertz } from '../metrics/gpu-clocks.ts'
import type { Collector } from './collector.ts'
import { CLOCK_DOMAINS, MHZ } from './parts/clock-domains.ts'
import { all, gauge } from './parts/gauges.ts'

export const clocks: Collector = {
  id: 'clocks',
  rate: 'fast',
  metrics: [gpuClockHertz],
  attach: (device) => ({
    read: all(CLOCK_DOMAINS.map(({ domain, type }) => gauge(device.query('nvmlDeviceGetClockInfo', [type]), gpuClockHertz, { ...device.labels, domain }, MHZ))),
  }),
}
