// Incidents: what fires, how many there were, GPU time lost to them, and forecasts of memory exhaustion.
import { defineMetric } from '../model/metric.ts'
import { GPU_LABELS } from './labels.ts'

// The store of incidents keeps all of them with their times, so history need not.
export const incidentActive = defineMetric({
  name: 'warpwatch_incident_active',
  subject: 'incident',
  kind: 'gauge',
  unit: '1',
  help: '1 for each subject that has a firing incident of this kind; of kind xid also the number of the Xid, or of the SXid of an NVSwitch.',
  labels: ['kind', 'severity', 'gpu', 'uuid', 'container', 'xid', 'sxid'],
  history: false,
})
export const incidentsTotal = defineMetric({
  name: 'warpwatch_incidents_total',
  subject: 'incident',
  kind: 'counter',
  unit: '{incident}',
  help: 'Incidents that fired since the agent started; all kinds are there from the start, so that the first one is seen as an increase.',
  labels: ['kind'],
  history: false,
})
export const incidentLastTimestampSeconds = defineMetric({
  name: 'warpwatch_incident_last_timestamp_seconds',
  subject: 'incident',
  kind: 'gauge',
  unit: 's',
  help: 'When a fault of this kind was last seen, Unix time; absent while none was.',
  labels: ['kind'],
  history: false,
})
export const incidentsSilenced = defineMetric({
  name: 'warpwatch_incidents_silenced',
  subject: 'incident',
  kind: 'gauge',
  unit: '{incident}',
  help: 'Firing incidents without notifications because a silence covers them.',
  labels: [],
  history: false,
})
export const gpuSecondsLostTotal = defineMetric({
  name: 'warpwatch_gpu_seconds_lost_total',
  subject: 'gpu',
  field: 'seconds_lost_total',
  kind: 'counter',
  unit: 's',
  help: 'GPU time lost to crashes since the agent started: from the last state that the job saved, or its first sight on the GPU, to its end. By kind of the incident.',
  labels: ['kind', ...GPU_LABELS],
  history: false,
})

const FORECAST_LABELS = [...GPU_LABELS, 'pid', 'container'] as const
export const memoryExhaustionEarliestSeconds = defineMetric({
  name: 'warpwatch_memory_exhaustion_earliest_seconds',
  subject: 'gpu',
  field: 'memory_exhaustion_earliest_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Seconds from now until the process runs out of GPU memory at the earliest, if its trend goes on; absent when the data does not support a forecast.',
  labels: FORECAST_LABELS,
})
export const memoryExhaustionLatestSeconds = defineMetric({
  name: 'warpwatch_memory_exhaustion_latest_seconds',
  subject: 'gpu',
  field: 'memory_exhaustion_latest_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'The same at the latest; absent also when only the near end is known, as without the probe.',
  labels: FORECAST_LABELS,
})
