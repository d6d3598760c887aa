// What a source of GPUs is made with, and what it can be asked: types only.
import type { IdentifyProcess } from '../../model/identity.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Source } from '../../model/source.ts'
import type { ConnectInside } from '../../sampler/connections.ts'
import type { SamplerDown, SupervisorOptions } from '../../sampler/supervisor.ts'
import type { RuntimeSleep } from './runtime-sleep.ts'
import type { HostMemory } from './unified-memory.ts'

/** What the source can do now, for /readyz and for the decision whether nvidia-smi must stand in. */
export type GpuSourceState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'sampling'; readonly gpus: number; readonly driverVersion: string; readonly library: string }
  | ({ readonly kind: 'down' } & SamplerDown)

export type GpuSourceOptions = Omit<SupervisorOptions, 'metrics'> & {
  /** Of its scrapes: `gpu` unless it reads the cards of another maker. */
  readonly id?: string
  /** Who lists the GPUs, in texts: `NVML`. */
  readonly lister?: string
  /** Metrics that the child's collectors may announce. */
  readonly collectorMetrics: readonly MetricDef[]
  readonly identify: IdentifyProcess
  /** Whether the agent sees all processes of the host; absent = not known. */
  readonly seesAllProcesses?: boolean
  /** Memory of the host, for GPUs that have none of their own. */
  readonly hostMemory?: () => HostMemory | undefined
  /** When NVML may be used, where GPUs can sleep. */
  readonly sleep?: RuntimeSleep
  /** Hears of every change of the state. */
  readonly onState?: (state: GpuSourceState) => void
}
export type GpuSource = Source & {
  readonly connect: ConnectInside
  readonly state: () => GpuSourceState
  readonly samplerPid: () => number | undefined
}
