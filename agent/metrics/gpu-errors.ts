// What ECC found, and what was taken out of use for it.
import { defineMetric } from '../model/metric.ts'
import { dcgmCounter, dcgmGauge, renamed } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

const dcgm = (name: string, help: string, type: string, scope: string) => dcgmCounter(name, help, 1, { type, scope })
export const gpuEccErrorsTotal = defineMetric({
  name: 'warpwatch_gpu_ecc_errors_total',
  subject: 'gpu',
  field: 'ecc_errors_total',
  kind: 'counter',
  unit: '{error}',
  help: 'ECC errors. volatile: since the driver was loaded; aggregate: over the life of the board. type deferred (AMD): bad data that was marked and not yet used.',
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
export const gpuEccEnabled = defineMetric({
  name: 'warpwatch_gpu_ecc_enabled',
  subject: 'gpu',
  field: 'ecc_enabled',
  kind: 'gauge',
  unit: '1',
  help: 'Whether ECC is on (1) or off (0).',
  labels: GPU_LABELS,
  history: false,
})
export const gpuRetiredPages = defineMetric({
  name: 'warpwatch_gpu_retired_pages',
  subject: 'gpu',
  field: 'retired_pages',
  kind: 'gauge',
  unit: '{page}',
  help: 'Pages retired for several single-bit errors or for one double-bit error.',
  labels: [...GPU_LABELS, 'cause'],
  dcgm: {
    classic: [
      dcgmCounter('DCGM_FI_DEV_RETIRED_SBE', 'Total number of retired pages due to single-bit errors.', 1, { cause: 'single_bit' }),
      dcgmCounter('DCGM_FI_DEV_RETIRED_DBE', 'Total number of retired pages due to double-bit errors.', 1, { cause: 'double_bit' }),
    ],
  },
})
export const gpuRetiredPagesPending = defineMetric({
  name: 'warpwatch_gpu_retired_pages_pending',
  subject: 'gpu',
  field: 'retired_pages_pending',
  kind: 'gauge',
  unit: '1',
  help: 'Whether pages wait for a reset to be retired (1).',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmCounter('DCGM_FI_DEV_RETIRED_PENDING', 'Total number of pages pending retirement.')] },
})
const uncorrectable = dcgmCounter('DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS', 'Number of remapped rows for uncorrectable errors', 1, { type: 'uncorrected' })
const correctable = dcgmCounter('DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS', 'Number of remapped rows for correctable errors', 1, { type: 'corrected' })
export const gpuRemappedRows = defineMetric({
  name: 'warpwatch_gpu_remapped_rows',
  subject: 'gpu',
  field: 'remapped_rows',
  kind: 'gauge',
  unit: '{row}',
  help: 'Memory rows remapped for corrected or uncorrected errors.',
  labels: [...GPU_LABELS, 'type'],
  dcgm: {
    classic: [uncorrectable, correctable],
    current: [
      { ...uncorrectable, name: 'DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL' },
      { ...correctable, name: 'DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL' },
    ],
  },
})
export const gpuRowRemapPending = defineMetric({
  name: 'warpwatch_gpu_row_remap_pending',
  subject: 'gpu',
  field: 'row_remap_pending',
  kind: 'gauge',
  unit: '1',
  help: 'Whether a row remap is pending until the GPU is reset (1).',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_ROW_REMAP_PENDING', 'Whether remapping of rows is pending')] },
})
export const gpuRowRemapFailure = defineMetric({
  name: 'warpwatch_gpu_row_remap_failure',
  subject: 'gpu',
  field: 'row_remap_failure',
  kind: 'gauge',
  unit: '1',
  help: 'Whether a remapping has failed (1): the board must be replaced.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_ROW_REMAP_FAILURE', 'Whether remapping of rows has failed'), 'DCGM_FI_DEV_ROW_REMAP_FAILED'),
})
