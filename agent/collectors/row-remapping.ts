// Memory rows replaced by spare ones (Ampere and newer). A failed remapping means that the board must be replaced.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmCounter, dcgmGauge, renamed } from './parts/dcgm.ts'
import { gauges } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

const uncorrectable = dcgmCounter('DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS', 'Number of remapped rows for uncorrectable errors', 1, { type: 'uncorrected' })
const correctable = dcgmCounter('DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS', 'Number of remapped rows for correctable errors', 1, { type: 'corrected' })

export const remappedRows = defineMetric({
  name: 'warpwatch_gpu_remapped_rows',
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
export const rowRemapPending = defineMetric({
  name: 'warpwatch_gpu_row_remap_pending',
  kind: 'gauge',
  unit: '1',
  help: 'Whether a remapping waits for a reset of the GPU (1).',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_ROW_REMAP_PENDING', 'Whether remapping of rows is pending')] },
})
export const rowRemapFailure = defineMetric({
  name: 'warpwatch_gpu_row_remap_failure',
  kind: 'gauge',
  unit: '1',
  help: 'Whether a remapping has failed (1): the board must be replaced.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_ROW_REMAP_FAILURE', 'Whether remapping of rows has failed'), 'DCGM_FI_DEV_ROW_REMAP_FAILED'),
})

export const rowRemapping: Collector = {
  id: 'row-remapping',
  rate: 'slow',
  metrics: [remappedRows, rowRemapPending, rowRemapFailure],
  attach: (device) => ({
    read: gauges(device.query('nvmlDeviceGetRemappedRows', [], ['u32', 'u32', 'u32', 'u32']), [
      { metric: remappedRows, labels: { ...device.labels, type: 'corrected' }, at: 0 },
      { metric: remappedRows, labels: { ...device.labels, type: 'uncorrected' }, at: 1 },
      { metric: rowRemapPending, labels: device.labels, at: 2 },
      { metric: rowRemapFailure, labels: device.labels, at: 3 },
    ]),
  }),
}
