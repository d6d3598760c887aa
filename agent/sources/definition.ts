// What the registry of sources holds: a name, the metrics it can emit, and how it is made from the agent's services.
import type { ContainerSettingsBook } from '../attribution/container-settings.ts'
import type { ContainerDirectory } from '../attribution/directory.ts'
import type { Config } from '../config/schema.ts'
import type { Signal } from '../lib/signal.ts'
import type { HangEvidence } from '../model/hosts.ts'
import type { IdentifyProcess } from '../model/identity.ts'
import type { IncidentFigures } from '../model/incident.ts'
import type { JobFigures, JobInterest } from '../model/job.ts'
import type { MetricDef } from '../model/metric.ts'
import type { NotificationFigures } from '../model/notification.ts'
import type { ReloadState } from '../model/reload.ts'
import type { Source } from '../model/source.ts'
import type { ConnectInside } from '../sampler/connections.ts'
import type { CursorStore } from '../store/cursors.ts'
import type { LatestStore } from '../store/latest.ts'
import type { SourceStatistics } from '../store/source-statistics.ts'
import type { SelfFigure } from './agent-self/figures.ts'
import type { ContainerWatchList } from './containers/watch-list.ts'
import type { Prefilter } from './logs/prefilter.ts'
import type { ProgressBook } from './logs/progress-book.ts'

/** Whether NVML answers; nvidia-smi is in while it is down. */
export type NvmlState = 'off' | 'starting' | 'sampling' | 'down'

/** What a source may ask of the rest of the agent. */
export type Services = {
  readonly config: Config
  /** The sampler child's entry file. */
  readonly childEntry: string
  readonly identify: IdentifyProcess
  readonly directory: ContainerDirectory
  /** Filled by the source of containers, asked when something goes wrong. */
  readonly settings: ContainerSettingsBook
  readonly incidents: () => IncidentFigures
  /** What the jobs used, and what their tracker wants to know of the host. */
  readonly jobs: JobInterest & { readonly figures: () => JobFigures }
  /** undefined: nobody is notified. */
  readonly notifications: () => NotificationFigures | undefined
  /** What came of reading the configuration, the start included. */
  readonly reloads: Signal<ReloadState>
  /** What the engines say of containers' lives, from the source that asks them. */
  readonly watchList: ContainerWatchList
  /** How far each log was read. */
  readonly cursors: CursorStore
  /** Which lines of logs are worth telling. */
  readonly interesting: Prefilter
  /** What jobs say of their progress in the logs that are read. */
  readonly progress: ProgressBook
  /** Of jobs with ranks on other hosts. */
  readonly hangEvidence: HangEvidence
  /** Takes each line of a container's log, for who looks at it now; undefined: no lines are shown. */
  readonly showLine: ((containerId: string, t: number, text: string) => void) | undefined
  readonly latest: LatestStore
  readonly statistics: SourceStatistics
  readonly nvml: Signal<NvmlState>
  /** Connections inside other network namespaces, from the source of GPUs, whose child makes them; undefined: it has none. */
  readonly connectInside: Signal<ConnectInside | undefined>
  /** What the parts of the agent say of themselves: sinks, stores, readers. */
  readonly selfReports: readonly (() => readonly SelfFigure[])[]
}

/** What a source can take of a new configuration while it runs, without losing anything. */
export type ReloadableSource = Source & {
  readonly reload?: { readonly takes: readonly string[]; readonly apply: (next: Config) => void }
}

export type SourceDefinition = {
  readonly id: string
  readonly metrics: readonly MetricDef[]
  /** Takes of these services what it needs. undefined: the configuration does not want it. */
  readonly create: (services: Services) => ReloadableSource | undefined
}

/** A source is made with the services that it `needs` and cannot reach any other. */
export function defineSource<const Need extends keyof Services>({
  needs,
  create,
  ...definition
}: {
  readonly id: string
  readonly metrics: readonly MetricDef[]
  readonly needs: readonly Need[]
  readonly create: (services: Pick<Services, Need>) => ReloadableSource | undefined
}): SourceDefinition {
  return { ...definition, create: (services) => create(picked(services, needs)) }
}

function picked<Name extends keyof Services>(services: Services, names: readonly Name[]): Pick<Services, Name> {
  const found: Partial<Pick<Services, Name>> = {}
  for (const name of names) found[name] = services[name]
  if (!hasAll(found, names)) throw new Error(`a source needs ${names.join(', ')}: one of these services is missing`)
  return found
}
const hasAll = <Name extends keyof Services>(found: Partial<Pick<Services, Name>>, names: readonly Name[]): found is Pick<Services, Name> =>
  names.every((name) => name in found)
