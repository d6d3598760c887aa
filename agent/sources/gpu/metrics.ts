// Metrics that the agent itself keeps about its GPUs: ages, Xid events, the sampler's own health.
import { defineMetric } from '../../model/metric.ts'
import { XID_COUNT } from '../../model/xid-count.ts'

const GPU = ['gpu', 'uuid'] as const

export const sampleAge = defineMetric({
  name: 'warpwatch_gpu_sample_age_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Age of the newest reading of this GPU; goes on rising while its driver hangs.',
  labels: GPU,
})
export const xidErrors = defineMetric({
  name: 'warpwatch_gpu_xid_errors_total',
  kind: 'counter',
  unit: '{event}',
  help: 'Xid events of the driver since the agent started, by number.',
  labels: [...GPU, 'xid'],
  dcgm: {
    classic: [{ name: 'DCGM_EXP_XID_ERRORS_TOTAL', kind: 'counter', help: 'Count of XID errors since the agent started.', scale: 1, labels: ['xid'] }],
    current: [{ name: 'DCGM_EXP_XID_ERRORS_TOTAL', kind: 'counter', help: 'Count of XID errors since the agent started.', scale: 1, labels: ['xid'] }],
  },
})
export const xidErrorsRecent = defineMetric({
  name: 'warpwatch_gpu_xid_errors_recent',
  kind: 'gauge',
  unit: '{event}',
  help: 'Xid events of the last five minutes, by number; absent without any.',
  labels: [...GPU, 'xid'],
  dcgm: { classic: [XID_COUNT], current: [XID_COUNT] },
  history: false,
})
export const xidLastTimestamp = defineMetric({
  name: 'warpwatch_gpu_xid_last_timestamp_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Unix time of the last Xid event of this number.',
  labels: [...GPU, 'xid'],
})
/** Only the first Xid brings it, and it never returns to 0: so does dcgm-exporter (its issues 500 and 646). */
export const xidLastCode = defineMetric({
  name: 'warpwatch_gpu_xid_last_code',
  kind: 'gauge',
  unit: '1',
  help: 'Number of the last Xid event; absent before the first.',
  labels: GPU,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_XID_ERRORS', kind: 'gauge', help: 'Value of the last XID error encountered.', scale: 1 }],
    current: [{ name: 'DCGM_FI_DEV_XID_ERROR', kind: 'gauge', help: 'Value of the last XID error encountered.', scale: 1 }],
  },
})
export const samplerRestarts = defineMetric({
  name: 'warpwatch_agent_sampler_restarts_total',
  kind: 'counter',
  unit: '{restart}',
  help: 'Sampler processes that ended or were replaced, by reason.',
  labels: ['reason'],
})
export const samplerAbandoned = defineMetric({
  name: 'warpwatch_agent_sampler_abandoned',
  kind: 'gauge',
  unit: '{process}',
  help: 'Killed sampler processes that have not ended because they hang in the kernel.',
  labels: [],
})
export const samplerHangs = defineMetric({
  name: 'warpwatch_agent_sampler_hangs_total',
  kind: 'counter',
  unit: '{hang}',
  help: 'Native calls that did not return in time or crashed, by GPU and function.',
  labels: [...GPU, 'function'],
})
export const gpuSourceMetrics = [sampleAge, xidErrors, xidErrorsRecent, xidLastTimestamp, xidLastCode, samplerRestarts, samplerAbandoned, samplerHangs] as const
