// Errors that ECC found: corrected and uncorrected, since the driver was loaded (volatile) and over the board's life (aggregate).
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmCounter } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

const dcgm = (name: string, help: string, type: string, scope: string) => dcgmCounter(name, help, 1, { type, scope })

export const eccErrors = defineMetric({
  name: 'warpwatch_gpu_ecc_errors_total',
  kind: 'counter',
  unit: '{error}',
  help: 'ECC errors. volatile: since the driver was loaded; aggregate: over the life of the board.',
  labels: [...GPU_LABELS, 'type', 'scope'],
  dcgm: {
    classic: [
      dcgm('DCGM_FI_DEV_ECC_SBE_VOL_TOTAL', 'Total number of single-bit volatile ECC errors.', 'corrected', 'volatile'),
      dcgm('DCGM_FI_DEV_ECC_DBE_VOL_TOTAL', 'Total number of double-bit volatile ECC errors.', 'uncorrected', 'volatile'),
      dcgm('DCGM_FI_DEV_ECC_SBE_AGG_TOTAL', 'Total number of single-bit persistent ECC errors.', 'corrected', 'aggregate'),
      dcgm('DCGM_FI_DEV_ECC_DBE_AGG_TOTAL', 'Total number of double-bit persistent ECC errors.', 'uncorrected', 'aggregate'),
    ],
  },
  // The lifetime counts have our own name: both under one would count each error twice.
  otel: ['corrected', 'uncorrected'].map((type) => ({
    name: 'hw.errors',
    attributes: { 'hw.type': 'gpu', 'error.type': type },
    when: { type, scope: 'volatile' },
  })),
})
export const eccEnabled = defineMetric({
  name: 'warpwatch_gpu_ecc_enabled',
  kind: 'gauge',
  unit: '1',
  help: 'Whether ECC is on (1) or off (0).',
  labels: GPU_LABELS,
  history: false,
})

/** nvmlMemoryErrorType_t and nvmlEccCounterType_t. */
const TYPES = ['corrected', 'uncorrected'] as const
const SCOPES = ['volatile', 'aggregate'] as const

export const ecc: Collector = {
  id: 'ecc',
  rate: 'slow',
  metrics: [eccErrors, eccEnabled],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetEccMode', [], ['u32', 'u32']), eccEnabled, device.labels),
      ...TYPES.flatMap((type, t) =>
        SCOPES.map((scope, s) => gauge(device.query('nvmlDeviceGetTotalEccErrors', [t, s], ['u64']), eccErrors, { ...device.labels, type, scope })),
      ),
    ]),
  }),
}
