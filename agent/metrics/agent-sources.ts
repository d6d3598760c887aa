// How well the agent reads: its sources, the sampler of the driver, logs, probes.
import { defineMetric } from '../model/metric.ts'
import { GPU_LABELS } from './labels.ts'

export const agentSourceUp = defineMetric({
  name: 'warpwatch_agent_source_up',
  subject: 'agent',
  kind: 'gauge',
  unit: '1',
  help: '1 while the newest reading of the source is younger than 15 s, else 0.',
  labels: ['source'],
})
export const agentSourceDurationSeconds = defineMetric({
  name: 'warpwatch_agent_source_duration_seconds',
  subject: 'agent',
  kind: 'gauge',
  unit: 's',
  help: 'How long the newest scrape of the source took.',
  labels: ['source'],
})
export const agentGapsTotal = defineMetric({
  name: 'warpwatch_agent_gaps_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{gap}',
  help: 'Readings that could not be had, counted when each gap appears.',
  labels: ['source', 'reason'],
})
export const agentSamplerRestartsTotal = defineMetric({
  name: 'warpwatch_agent_sampler_restarts_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{restart}',
  help: 'Sampler processes that ended or were replaced, by reason.',
  labels: ['vendor', 'reason'],
})
export const agentSamplerAbandoned = defineMetric({
  name: 'warpwatch_agent_sampler_abandoned',
  subject: 'agent',
  kind: 'gauge',
  unit: '{process}',
  help: 'Killed sampler processes that have not ended because they hang in the kernel.',
  labels: ['vendor'],
})
export const agentSamplerHangsTotal = defineMetric({
  name: 'warpwatch_agent_sampler_hangs_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{hang}',
  help: 'Native calls that did not return in time or crashed, by GPU and function.',
  labels: [...GPU_LABELS, 'function'],
})
export const agentLogLinesTotal = defineMetric({
  name: 'warpwatch_agent_log_lines_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{line}',
  help: 'Lines of logs that were read.',
  labels: ['stream'],
})
export const agentLogBytesTotal = defineMetric({
  name: 'warpwatch_agent_log_bytes_total',
  subject: 'agent',
  kind: 'counter',
  unit: 'By',
  help: 'Bytes of logs that were read.',
  labels: ['stream'],
})
export const agentLogSkippedTotal = defineMetric({
  name: 'warpwatch_agent_log_skipped_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{line}',
  help: 'Lines of logs that could not be judged, or were cut: too long, too many at once, overwritten before they were read, of an unknown form.',
  labels: ['stream', 'reason'],
})
export const agentLogLagSeconds = defineMetric({
  name: 'warpwatch_agent_log_lag_seconds',
  subject: 'agent',
  kind: 'gauge',
  unit: 's',
  help: 'Age of the newest lines when they were read, the worst of all logs of the stream; absent while nothing is written.',
  labels: ['stream'],
})
export const agentProbeConnections = defineMetric({
  name: 'warpwatch_agent_probe_connections',
  subject: 'agent',
  kind: 'gauge',
  unit: '{connection}',
  help: 'Open connections of probes.',
  labels: [],
})
export const agentProbeRefusalsTotal = defineMetric({
  name: 'warpwatch_agent_probe_refusals_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{refusal}',
  help: 'What probes, or other programs in their name, sent and the agent did not take, by reason.',
  labels: ['reason'],
})
