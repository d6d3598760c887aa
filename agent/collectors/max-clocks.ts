// The highest clocks that the board allows.
import { gpuClockMaxHertz } from '../metrics/gpu-clocks.ts'
import type { Collector } from './collector.ts'
import { CLOCK_DOMAINS, MHZ } from './parts/clock-domains.ts'
import { all, gauge } from './parts/gauges.ts'

export const maxClocks: Collector = {
  id: 'max-clocks',
  rate: 'rare',
  metrics: [gpuClockMaxHertz],
  attach: (device) => ({
    read: all(
      CLOCK_DOMAINS.map(({ domain, type }) => gauge(device.query('nvmlDeviceGetMaxClockInfo', [type]), gpuClockMaxHertz, { ...device.labels, domain }, MHZ)),
    ),
  }),
}
