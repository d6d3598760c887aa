// Errors that ECC found: corrected and uncorrected, since the driver was loaded (volatile) and over the board's life (aggregate).
import { gpuEccEnabled, gpuEccErrorsTotal } from '../metrics/gpu-errors.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

/** nvmlMemoryErrorType_t and nvmlEccCounterType_t. */
const TYPES = ['corrected', 'uncorrected'] as const
const SCOPES = ['volatile', 'aggregate'] as const

export const ecc: Collector = {
  id: 'ecc',
  rate: 'slow',
  metrics: [gpuEccErrorsTotal, gpuEccEnabled],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetEccMode', [], ['u32', 'u32']), gpuEccEnabled, device.labels),
      ...TYPES.flatMap((type, t) =>
        SCOPES.map((scope, s) => gauge(device.query('nvmlDeviceGetTotalEccErrors', [t, s], ['u64']), gpuEccErrorsTotal, { ...device.labels, type, scope })),
      ),
    ]),
  }),
}
