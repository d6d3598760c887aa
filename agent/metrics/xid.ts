// Xid events of the driver.
import { defineMetric } from '../model/metric.ts'
import { XID_COUNT } from '../model/xid-count.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuXidErrorsTotal = defineMetric({
  name: 'warpwatch_gpu_xid_errors_total',
  subject: 'gpu',
  field: 'xid_errors_total',
  kind: 'counter',
  unit: '{event}',
  help: 'Xid events of the driver since the agent started, by number.',
  labels: [...GPU_LABELS, 'xid'],
  dcgm: {
    classic: [{ name: 'DCGM_EXP_XID_ERRORS_TOTAL', kind: 'counter', help: 'Count of XID errors since the agent started.', scale: 1, labels: ['xid'] }],
    current: [{ name: 'DCGM_EXP_XID_ERRORS_TOTAL', kind: 'counter', help: 'Count of XID errors since the agent started.', scale: 1, labels: ['xid'] }],
  },
})
export const gpuXidErrorsRecent = defineMetric({
  name: 'warpwatch_gpu_xid_errors_recent',
  subject: 'gpu',
  field: 'xid_errors_recent',
  kind: 'gauge',
  unit: '{event}',
  help: 'Xid events of the last five minutes, by number; absent without any.',
  labels: [...GPU_LABELS, 'xid'],
  dcgm: { classic: [XID_COUNT], current: [XID_COUNT] },
  history: false,
})
export const gpuXidLastTimestampSeconds = defineMetric({
  name: 'warpwatch_gpu_xid_last_timestamp_seconds',
  subject: 'gpu',
  field: 'xid_last_timestamp_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Unix time of the last Xid event of this number.',
  labels: [...GPU_LABELS, 'xid'],
})
/** Only the first Xid brings it, and it never returns to 0: so does dcgm-exporter (its issues 500 and 646). */
export const gpuXidLastCode = defineMetric({
  name: 'warpwatch_gpu_xid_last_code',
  subject: 'gpu',
  field: 'xid_last_code',
  kind: 'gauge',
  unit: '1',
  help: 'Number of the last Xid event; absent before the first.',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_XID_ERRORS', kind: 'gauge', help: 'Value of the last XID error encountered.', scale: 1 }],
    current: [{ name: 'DCGM_FI_DEV_XID_ERROR', kind: 'gauge', help: 'Value of the last XID error encountered.', scale: 1 }],
  },
})
