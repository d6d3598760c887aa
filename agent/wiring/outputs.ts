// The outputs that write to the outside for as long as the agent runs: the live stream, a recording, OTLP.
import type { Config } from '../config/schema.ts'
import { proxyRules } from '../lib/proxy.ts'
import type { IncidentSummary } from '../model/incident.ts'
import type { Run } from '../model/job.ts'
import type { Sink, TakesEvents, TakesIncidents, TakesTicks } from '../model/sink.ts'
import type { Log } from '../model/source.ts'
import { createLiveSink, type LiveSink } from '../sinks/live.ts'
import type { OtlpSink } from '../sinks/otlp/sink.ts'
import { createRecordingSink } from '../sinks/recording.ts'
import type { Present } from './present.ts'
import type { Stores } from './stores.ts'

export type OutputsOptions = {
  readonly config: Config
  /** Path of the recording. */
  readonly record: string | undefined
  readonly present: Present
  readonly stores: Stores
  /** What fires now, for who begins to listen. */
  readonly firing: () => readonly IncidentSummary[]
  /** Jobs that run now. */
  readonly jobs: () => readonly Run[]
  readonly log: (part: string) => Log
}
export type Outputs = {
  readonly live: LiveSink
  readonly otlp: OtlpSink | undefined
  /** All of them, and each once more under what it takes. */
  readonly sinks: readonly Sink[]
  readonly events: readonly TakesEvents[]
  readonly ticks: readonly TakesTicks[]
  readonly incidents: readonly TakesIncidents[]
  readonly close: () => Promise<void>
}

/** Loaded only where there is a receiver. */
async function otlpSink({ config, present, stores, log }: OutputsOptions): Promise<OtlpSink | undefined> {
  const { endpoint, metrics_endpoint, logs_endpoint } = config.otlp
  if (endpoint === '' && metrics_endpoint === '' && logs_endpoint === '') return undefined
  const { createOtlpSink } = await import('../sinks/otlp/sink.ts')
  return createOtlpSink({
    settings: config.otlp,
    proxyFor: proxyRules(config.http_client),
    resource: { hostname: config.host_name, procRoot: config.host.proc_root, dataDir: config.data_dir, extra: config.otlp.resource_attributes },
    latest: present.latest,
    known: stores.incidents.unresolved().map(({ id }) => id),
    log: log('otlp'),
  })
}

/** Throws when the recording cannot be opened, or the settings of OTLP cannot be used. */
export async function openOutputs(options: OutputsOptions): Promise<Outputs> {
  const { config, record, present, firing, jobs, log } = options
  const live = createLiveSink({
    views: present.views,
    hostname: config.host_name,
    simulated: config.simulate.scenario !== 'off',
    maxReaders: config.http.max_readers,
    firing,
    jobs,
  })
  const recording = record === undefined ? [] : [createRecordingSink({ path: record, host: config.host_name, log: log('recording') })]
  const otlp = await otlpSink(options)
  const optional = otlp === undefined ? [] : [otlp]
  const sinks = [live, ...recording, ...optional]
  return {
    live,
    otlp,
    sinks,
    events: recording,
    ticks: sinks,
    incidents: [live, ...optional],
    async close() {
      for (const sink of sinks) await sink.close()
    },
  }
}
