// The sources that the configuration wants, each made with the services that it asks for, and with no others.
import { createContainerDirectory } from '../attribution/directory.ts'
import type { ContainerSettingsBook } from '../attribution/container-settings.ts'
import { createProcessIdentifier } from '../attribution/process.ts'
import type { ReloadPart } from '../config/reload.ts'
import type { Config } from '../config/schema.ts'
import { createLineFilter } from '../diagnosis/line-filter.ts'
import { createSignal } from '../lib/signal.ts'
import type { ConnectInside } from '../sampler/connections.ts'
import type { Event } from '../model/event.ts'
import type { JobFigures, JobInterest } from '../model/job.ts'
import type { Every, Log } from '../model/source.ts'
import type { Pipeline } from '../pipeline.ts'
import { CHILD_ENTRY } from '../sampler/entry.ts'
import * as figures from '../sources/agent-self/figures.ts'
import { historyFigures } from '../sources/agent-self/history-figures.ts'
import { createContainerWatchList } from '../sources/containers/watch-list.ts'
import { createProgressBook } from '../sources/logs/progress-book.ts'
import type { NvmlState, ReloadableSource, Services, SourceDefinition } from '../sources/definition.ts'
import * as registry from '../sources/index.ts'
import type { IncidentService } from '../store/incident-service.ts'
import type { AlertsOutput } from './alerts.ts'
import type { Outputs } from './outputs.ts'
import type { Present } from './present.ts'
import type { Reloads } from './reloads.ts'
import type { Stores } from './stores.ts'

export type SourcesOptions = {
  readonly config: Config
  readonly present: Present
  readonly stores: Stores
  readonly outputs: Outputs
  readonly pipeline: Pipeline
  readonly incidents: IncidentService
  readonly jobs: JobInterest & { readonly figures: () => JobFigures }
  readonly alerts: AlertsOutput
  readonly reloads: Reloads
  readonly containerSettings: ContainerSettingsBook
  readonly showLine: Services['showLine']
  readonly hangEvidence: Services['hangEvidence']
}
export type Sources = {
  /** Resolves when each has asked for its first readings. */
  readonly start: (context: { readonly emit: (event: Event) => void; readonly every: Every; readonly log: (part: string) => Log }) => Promise<void>
  readonly stop: () => Promise<void>
  readonly reloads: readonly ReloadPart[]
}

/** What the parts of the agent say of themselves. */
function selfReports({ outputs, pipeline, stores }: SourcesOptions): Services['selfReports'] {
  const { live, otlp, sinks } = outputs
  return [
    () => sinks.map((sink) => ({ metric: figures.sinkDropped, labels: { sink: sink.name }, value: sink.dropped() })),
    ...(otlp === undefined ? [] : [() => figures.otlpFigures(otlp.counts())]),
    () => [{ metric: figures.streamReaders, labels: {}, value: live.readers() }],
    () => [...pipeline.failures()].map(([consumer, value]) => ({ metric: figures.consumerFailures, labels: { consumer }, value })),
    ...(stores.history === undefined ? [] : [historyFigures(stores.history)]),
  ]
}

function servicesOf(options: SourcesOptions): Services {
  const { config, present, stores, incidents, jobs, alerts, reloads, containerSettings, showLine, hangEvidence } = options
  const { latest, statistics } = present
  const directory = createContainerDirectory()
  return {
    config,
    childEntry: CHILD_ENTRY,
    identify: createProcessIdentifier({ procRoot: config.host.proc_root, directory }),
    directory,
    settings: containerSettings,
    incidents: incidents.figures,
    jobs,
    notifications: alerts.figures,
    reloads: reloads.state,
    watchList: createContainerWatchList(),
    cursors: stores.cursors,
    interesting: createLineFilter(),
    progress: createProgressBook(),
    showLine,
    hangEvidence,
    latest,
    statistics,
    nvml: createSignal<NvmlState>('off'),
    connectInside: createSignal<ConnectInside | undefined>(undefined),
    selfReports: selfReports(options),
  }
}

/** The cards first: their driver takes longest to answer, and the others start meanwhile. */
const FIRST: ReadonlySet<string> = new Set(['gpu', 'cards'])
const inOrder = (sources: readonly ReloadableSource[]): readonly ReloadableSource[] => [
  ...sources.filter(({ id }) => FIRST.has(id)),
  ...sources.filter(({ id }) => !FIRST.has(id)),
]

export function createSources(options: SourcesOptions): Sources {
  const services = servicesOf(options)
  const definitions: readonly SourceDefinition[] = Object.values(registry)
  const sources: readonly ReloadableSource[] = definitions.flatMap((definition) => definition.create(services) ?? [])
  return {
    async start({ emit, every, log }) {
      await Promise.all(inOrder(sources).map(async (source) => source.start({ emit, every, log: log(source.id) })))
    },
    async stop() {
      await Promise.all(sources.map(async (source) => source.stop()))
    },
    reloads: sources.flatMap(({ reload }) => (reload === undefined ? [] : [{ takes: reload.takes, prepare: (next: Config) => () => reload.apply(next) }])),
  }
}
