// The performance state, P0 (fastest) to P15.
import { gpuPerformanceState } from '../metrics/gpu-identity.ts'
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import { makeSeries } from '../model/series.ts'
import type { Collector } from './collector.ts'

/** NVML_PSTATE_UNKNOWN */
const UNKNOWN_STATE = 32
const unknown = failureOf('nvmlDeviceGetPerformanceState value', UNKNOWN_STATE, 'driver_error', 'the driver answered "unknown" (32) as performance state')

export const performanceState: Collector = {
  id: 'performance-state',
  rate: 'fast',
  metrics: [gpuPerformanceState],
  attach: (device) => {
    const query = device.query('nvmlDeviceGetPerformanceState')
    const series = makeSeries(gpuPerformanceState, device.labels)
    return {
      read: (out) => {
        const code = query.ask()
        if (code !== SUCCESS) out.gap(gpuPerformanceState, device.labels, failureOf(query.name, code))
        else if (query.values[0] === UNKNOWN_STATE) out.gap(gpuPerformanceState, device.labels, unknown)
        else out.reading(series, query.values[0] ?? Number.NaN)
      },
    }
  },
}
