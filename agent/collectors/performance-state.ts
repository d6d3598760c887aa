// The performance state, P0 (fastest) to P15.
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import { defineMetric } from '../model/metric.ts'
import { makeSeries } from '../model/series.ts'
import type { Collector } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const performanceStateMetric = defineMetric({
  name: 'warpwatch_gpu_performance_state',
  kind: 'gauge',
  unit: '1',
  help: 'Performance state: 0 is P0, the fastest, 15 the slowest.',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_PSTATE', 'Current performance state (0-15).')] },
})

/** NVML_PSTATE_UNKNOWN */
const UNKNOWN_STATE = 32
const unknown = failureOf('nvmlDeviceGetPerformanceState value', UNKNOWN_STATE, 'driver_error', 'the driver answered "unknown" (32) as performance state')

export const performanceState: Collector = {
  id: 'performance-state',
  rate: 'fast',
  metrics: [performanceStateMetric],
  attach: (device) => {
    const query = device.query('nvmlDeviceGetPerformanceState')
    const series = makeSeries(performanceStateMetric, device.labels)
    return {
      read: (out) => {
        const code = query.ask()
        if (code !== SUCCESS) out.gap(performanceStateMetric, device.labels, failureOf(query.name, code))
        else if (query.values[0] === UNKNOWN_STATE) out.gap(performanceStateMetric, device.labels, unknown)
        else out.reading(series, query.values[0] ?? Number.NaN)
      },
    }
  },
}
