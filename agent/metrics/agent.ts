// The agent itself: its version and configuration, its process, its pipeline and its history.
import { defineMetric } from '../model/metric.ts'

export const buildInfo = defineMetric({
  name: 'warpwatch_build_info',
  subject: 'agent',
  kind: 'info',
  unit: '1',
  help: 'The version of the agent, the commit that it was built from (unknown where the build had none), and the version of Node that runs it.',
  labels: ['version', 'commit', 'node'],
  history: false,
})
export const configLastReloadSuccessful = defineMetric({
  name: 'warpwatch_config_last_reload_successful',
  subject: 'agent',
  kind: 'gauge',
  unit: '1',
  help: '1 when the configuration that was read last is in force, 0 when it was refused and the one before stays in force.',
  labels: [],
  history: false,
})
export const configLastReloadSuccessTimestampSeconds = defineMetric({
  name: 'warpwatch_config_last_reload_success_timestamp_seconds',
  subject: 'agent',
  kind: 'gauge',
  unit: 's',
  help: 'When the configuration in force was read, Unix time.',
  labels: [],
  history: false,
})
export const processCpuSecondsTotal = defineMetric({
  name: 'process_cpu_seconds_total',
  subject: 'agent',
  kind: 'counter',
  unit: 's',
  help: 'CPU time of the main process.',
  labels: [],
  otel: [{ name: 'process.cpu.time' }],
})
export const agentCpuModeSecondsTotal = defineMetric({
  name: 'warpwatch_agent_cpu_mode_seconds_total',
  subject: 'agent',
  kind: 'counter',
  unit: 's',
  help: 'CPU time of the main process by mode, user and system; the sum is process_cpu_seconds_total.',
  labels: ['mode'],
  otel: [{ name: 'process.cpu.time', labels: { mode: 'cpu.mode' }, partsOf: processCpuSecondsTotal }],
  history: false,
})
export const processResidentMemoryBytes = defineMetric({
  name: 'process_resident_memory_bytes',
  subject: 'agent',
  kind: 'gauge',
  unit: 'By',
  help: 'Resident memory of the main process.',
  labels: [],
  otel: [{ name: 'process.memory.usage', upDown: true }],
})
export const processStartTimeSeconds = defineMetric({
  name: 'process_start_time_seconds',
  subject: 'agent',
  kind: 'gauge',
  unit: 's',
  help: 'Start of the main process, Unix time.',
  labels: [],
  history: false,
})
export const processOpenFds = defineMetric({
  name: 'process_open_fds',
  subject: 'agent',
  kind: 'gauge',
  unit: '{descriptor}',
  help: 'Open file descriptors of the main process.',
  labels: [],
  otel: [{ name: 'process.unix.file_descriptor.count', unit: '{file_descriptor}', upDown: true }],
})
export const agentEventLoopUtilizationRatio = defineMetric({
  name: 'warpwatch_agent_event_loop_utilization_ratio',
  subject: 'agent',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the last five seconds in which the main event loop was busy.',
  labels: [],
})
export const agentEventsTotal = defineMetric({
  name: 'warpwatch_agent_events_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{event}',
  help: 'Events that passed through the pipeline.',
  labels: ['type'],
})
export const agentConsumerFailuresTotal = defineMetric({
  name: 'warpwatch_agent_consumer_failures_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{event}',
  help: 'Events on which a part of the agent failed; its log says how.',
  labels: ['consumer'],
})
export const agentHistoryBytes = defineMetric({
  name: 'warpwatch_agent_history_bytes',
  subject: 'agent',
  kind: 'gauge',
  unit: 'By',
  help: 'Size of the history on disk.',
  labels: [],
})
export const agentHistorySeries = defineMetric({
  name: 'warpwatch_agent_history_series',
  subject: 'agent',
  kind: 'gauge',
  unit: '{series}',
  help: 'Series that history is recording now.',
  labels: [],
})
export const agentHistoryDegraded = defineMetric({
  name: 'warpwatch_agent_history_degraded',
  subject: 'agent',
  kind: 'gauge',
  unit: '1',
  help: '1 while history cannot be written to disk and is kept in memory only, else 0.',
  labels: [],
})
