// What the agent says of its own parts, and of its own process.
import { defineMetric, type MetricDef } from '../../model/metric.ts'
import type { ReloadState } from '../../model/reload.ts'
import type { Labels } from '../../model/series.ts'

/** One figure of one part, as the composition root hands it in. */
export type SelfFigure = { readonly metric: MetricDef; readonly labels: Labels; readonly value: number }

export const sourceUp = defineMetric({
  name: 'warpwatch_agent_source_up',
  kind: 'gauge',
  unit: '1',
  help: '1 while the newest reading of the source is younger than 15 s, else 0.',
  labels: ['source'],
})
export const sourceDuration = defineMetric({
  name: 'warpwatch_agent_source_duration_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'How long the newest scrape of the source took.',
  labels: ['source'],
})
export const gapsTotal = defineMetric({
  name: 'warpwatch_agent_gaps_total',
  kind: 'counter',
  unit: '{gap}',
  help: 'Readings that could not be had, counted when each gap appears.',
  labels: ['source', 'reason'],
})
export const eventsTotal = defineMetric({
  name: 'warpwatch_agent_events_total',
  kind: 'counter',
  unit: '{event}',
  help: 'Events that passed through the pipeline.',
  labels: ['type'],
})
export const consumerFailures = defineMetric({
  name: 'warpwatch_agent_consumer_failures_total',
  kind: 'counter',
  unit: '{event}',
  help: 'Events on which a part of the agent failed; its log says how.',
  labels: ['consumer'],
})
export const sinkDropped = defineMetric({
  name: 'warpwatch_agent_sink_dropped_total',
  kind: 'counter',
  unit: '{event}',
  help: 'What a sink left out because it or its reader could not keep up: frames of the live stream, events of a recording, incidents and whole exports over OTLP.',
  labels: ['sink'],
})
export const otlpRequests = defineMetric({
  name: 'warpwatch_agent_otlp_requests_total',
  kind: 'counter',
  unit: '{request}',
  help: 'Requests to the OTLP receiver by signal (metrics, incidents) and what came of them: delivered; retry (not delivered, tried again); rejected (the receiver does not want them).',
  labels: ['signal', 'result'],
})
export const otlpRefused = defineMetric({
  name: 'warpwatch_agent_otlp_refused_total',
  kind: 'counter',
  unit: '{item}',
  help: 'Data points and log records that the OTLP receiver refused out of requests that it took (partial success).',
  labels: ['signal'],
})
/** By signal, how many requests came to which result. */
export function otlpFigures(counts: Readonly<Record<string, Readonly<Record<'delivered' | 'retry' | 'rejected' | 'refused', number>>>>): readonly SelfFigure[] {
  return Object.entries(counts).flatMap(([signal, { refused, ...results }]) => [
    ...Object.entries(results).map(([result, value]) => ({ metric: otlpRequests, labels: { signal, result }, value })),
    { metric: otlpRefused, labels: { signal }, value: refused },
  ])
}
export const streamReaders = defineMetric({
  name: 'warpwatch_agent_stream_readers',
  kind: 'gauge',
  unit: '{reader}',
  help: 'Readers of the live stream.',
  labels: [],
})
export const historyBytes = defineMetric({
  name: 'warpwatch_agent_history_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Size of the history on disk.',
  labels: [],
})
export const historySeries = defineMetric({
  name: 'warpwatch_agent_history_series',
  kind: 'gauge',
  unit: '{series}',
  help: 'Series that history is recording now.',
  labels: [],
})
export const historyDegraded = defineMetric({
  name: 'warpwatch_agent_history_degraded',
  kind: 'gauge',
  unit: '1',
  help: '1 while history cannot be written to disk and is kept in memory only, else 0.',
  labels: [],
})
export const eventLoopBusy = defineMetric({
  name: 'warpwatch_agent_event_loop_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the last five seconds in which the main event loop was busy.',
  labels: [],
})
export const cpuSeconds = defineMetric({
  name: 'process_cpu_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'CPU time of the main process.',
  labels: [],
  otel: [{ name: 'process.cpu.time' }],
})
export const residentBytes = defineMetric({
  name: 'process_resident_memory_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Resident memory of the main process.',
  labels: [],
  otel: [{ name: 'process.memory.usage', upDown: true }],
})
export const startTime = defineMetric({
  name: 'process_start_time_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Start of the main process, Unix time.',
  labels: [],
  history: false,
})
export const openFds = defineMetric({
  name: 'process_open_fds',
  kind: 'gauge',
  unit: '{descriptor}',
  help: 'Open file descriptors of the main process.',
  labels: [],
  otel: [{ name: 'process.unix.file_descriptor.count', unit: '{file_descriptor}', upDown: true }],
})

export const buildInfo = defineMetric({
  name: 'warpwatch_build_info',
  kind: 'info',
  unit: '1',
  help: 'The version of the agent, the commit that it was built from (unknown where the build had none), and the version of Node that runs it.',
  labels: ['version', 'commit', 'node'],
  history: false,
})
export const reloadSuccessful = defineMetric({
  name: 'warpwatch_config_last_reload_successful',
  kind: 'gauge',
  unit: '1',
  help: '1 when the configuration that was read last is in force, 0 when it was refused and the one before stays in force.',
  labels: [],
  history: false,
})
export const reloadTimestamp = defineMetric({
  name: 'warpwatch_config_last_reload_success_timestamp_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'When the configuration in force was read, Unix time.',
  labels: [],
  history: false,
})
export const reloadFigures = ({ successful, succeededAt }: ReloadState): readonly SelfFigure[] => [
  { metric: reloadSuccessful, labels: {}, value: successful ? 1 : 0 },
  { metric: reloadTimestamp, labels: {}, value: succeededAt / 1_000 },
]

export const selfMetrics: readonly MetricDef[] = [
  buildInfo,
  reloadSuccessful,
  reloadTimestamp,
  sourceUp,
  sourceDuration,
  gapsTotal,
  eventsTotal,
  consumerFailures,
  sinkDropped,
  otlpRequests,
  otlpRefused,
  streamReaders,
  historyBytes,
  historySeries,
  historyDegraded,
  eventLoopBusy,
  cpuSeconds,
  residentBytes,
  startTime,
  openFds,
]
