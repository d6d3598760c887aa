// Who holds a GPU's memory and keeps it busy: joins NVML's process list with who the processes are, per process, per container, and what is left over.
import { containerGpuMemoryBytes, containerGpuUtilizationRatio } from '../metrics/container.ts'
import { gpuMemoryUnattributedBytes } from '../metrics/gpu-memory.ts'
import { processGpuMemoryBytes, processGpuUtilizationRatio } from '../metrics/process.ts'
import type { ContainerIdentity, IdentifyProcess, ProcessIdentity } from '../model/identity.ts'
import type { Gap, Reading } from '../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import type { ProcessRow } from '../sampler/protocol.ts'
import { createLoadShares, type GpuLoad, type LoadShares } from './gpu-utilization.ts'
import { keyOf, listedOf, type Key, type Listed } from './listed-processes.ts'

export const gpuMemoryMetrics = [
  processGpuMemoryBytes,
  containerGpuMemoryBytes,
  gpuMemoryUnattributedBytes,
  processGpuUtilizationRatio,
  containerGpuUtilizationRatio,
] as const

export type GpuProcesses = {
  readonly gpu: string
  readonly uuid: string
  /** Used memory of the whole GPU, its MIG instances included; undefined when it could not be read. */
  readonly usedBytes: number | undefined
  /** Undefined when the list could not be read; `gap` says why. */
  readonly processes: readonly ProcessRow[] | undefined
  /** How busy the GPU is and which process keeps it so, at `t` (Unix ms); absent where nobody asks for shares. */
  readonly load?: GpuLoad & { readonly t: number }
  /** Why `usedBytes` or `processes` is missing. */
  readonly gap?: Pick<Gap, 'reason' | 'code' | 'detail'>
}
export type GpuMemoryOwners = { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }
export type GpuMemoryAttribution = {
  readonly attribute: (gpu: GpuProcesses) => GpuMemoryOwners
  /** Lets go of what is kept for a GPU that is no longer there. */
  readonly forget: (uuid: string) => void
}

export type AttributionOptions = {
  /** Whether the agent sees all processes of the host (`host-pids.ts`); absent = not known, then the list itself must show it. */
  readonly seesAllProcesses?: boolean
}

type ProcessEntry = {
  readonly who: ProcessIdentity | undefined
  readonly type: string
  readonly series: Series
  readonly utilization: Series
  readonly gap: Gap
  seen: number
  /** One that has not changed is the same object again. */
  last: Reading | undefined
  lastRatio: Reading | undefined
}
type ContainerEntry = {
  readonly who: ContainerIdentity
  readonly series: Series
  readonly utilization: Series
  readonly gap: Gap
  seen: number
  bytes: number
  unknown: number
  ratio: number
  last: Reading | undefined
  lastRatio: Reading | undefined
}
/** So many rounds in a row in which no listed process is in /proc; a single process that just ended is no sign of anything. */
const ROUNDS_OF_STRANGERS = 3
/** Less in use is what the driver itself takes; no process need be behind it. */
const HIDDEN_LEAST_BYTES = 2 ** 30
type GpuEntry = {
  readonly labels: Labels
  readonly unattributed: Series
  readonly processes: Map<Key, ProcessEntry>
  readonly containers: Map<Key, ContainerEntry>
  readonly shares: LoadShares
  /** What is made of a list, kept as long as the same one comes. */
  listed: Listed | undefined
  round: number
  strangers: number
}

const containerLabels = (who: ContainerIdentity): Labels => ({
  container: who.name,
  container_id: who.id.slice(0, 12),
  image: who.image ?? '',
  compose_project: who.composeProject ?? '',
  compose_service: who.composeService ?? '',
  namespace: who.namespace ?? '',
  pod: who.pod ?? '',
})
/** Labels without the empty ones: an empty label is no label. */
const compact = (labels: Labels): Labels => Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))

const sameContainer = (a: ContainerIdentity | undefined, b: ContainerIdentity | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.id === b.id &&
    a.name === b.name &&
    a.image === b.image &&
    a.composeProject === b.composeProject &&
    a.composeService === b.composeService &&
    a.namespace === b.namespace &&
    a.pod === b.pod)
const sameProcess = (a: ProcessIdentity | undefined, b: ProcessIdentity | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.startTicks === b.startTicks &&
    a.name === b.name &&
    a.innerPid === b.innerPid &&
    a.slurmJob === b.slurmJob &&
    a.unit === b.unit &&
    sameContainer(a.container, b.container))

/** The reading again where its value is the same. */
const again = (last: Reading | undefined, series: Series, value: number): Reading => (last?.value === value ? last : { series, value })
/** A hundredth of a percent; more digits would only be written and stored. */
const round4 = (ratio: number): number => Math.round(ratio * 1e4) / 1e4

const isInInstance = ({ labels }: Series): boolean => labels['gi'] !== undefined

export function createGpuMemoryAttribution(identify: IdentifyProcess, { seesAllProcesses }: AttributionOptions = {}): GpuMemoryAttribution {
  const gpus = new Map<string, GpuEntry>()

  const processEntry = (gpu: GpuEntry, key: Key, row: ProcessRow, place: () => Labels): ProcessEntry => {
    const who = identify(row.pid)
    const known = gpu.processes.get(key)
    if (known !== undefined && known.type === row.type && sameProcess(known.who, who)) return known
    const labels = compact({
      ...place(),
      pid: String(row.pid),
      process: who?.name ?? '',
      type: row.type,
      inner_pid: who?.innerPid === undefined ? '' : String(who.innerPid),
      ...(who?.container === undefined ? {} : containerLabels(who.container)),
      slurm_job: who?.slurmJob ?? '',
      unit: who?.unit ?? '',
    })
    const gap: Gap = {
      metric: processGpuMemoryBytes.name,
      labels,
      reason: 'not_supported',
      detail: 'the driver does not report how much memory this process holds (Windows driver model, or an old driver inside a container)',
    }
    const entry: ProcessEntry = {
      who,
      type: row.type,
      series: makeSeries(processGpuMemoryBytes, labels),
      utilization: makeSeries(processGpuUtilizationRatio, labels),
      gap,
      seen: 0,
      last: undefined,
      lastRatio: undefined,
    }
    gpu.processes.set(key, entry)
    return entry
  }
  const containerEntry = (gpu: GpuEntry, key: Key, who: ContainerIdentity, place: () => Labels): ContainerEntry => {
    const known = gpu.containers.get(key)
    if (known !== undefined && sameContainer(known.who, who)) return known
    const labels = compact({ ...place(), ...containerLabels(who) })
    const gap: Gap = {
      metric: containerGpuMemoryBytes.name,
      labels,
      reason: 'not_supported',
      detail: 'the driver does not report the memory of one of its processes, so there is no sum',
    }
    const entry: ContainerEntry = {
      who,
      series: makeSeries(containerGpuMemoryBytes, labels),
      utilization: makeSeries(containerGpuUtilizationRatio, labels),
      gap,
      seen: 0,
      bytes: 0,
      unknown: 0,
      ratio: 0,
      last: undefined,
      lastRatio: undefined,
    }
    gpu.containers.set(key, entry)
    return entry
  }
  const gpuEntry = (gpu: string, uuid: string): GpuEntry => {
    const known = gpus.get(uuid)
    if (known !== undefined && known.labels['gpu'] === gpu) return known
    const labels = { gpu, uuid }
    const entry: GpuEntry = {
      labels,
      unattributed: makeSeries(gpuMemoryUnattributedBytes, labels),
      processes: new Map(),
      containers: new Map(),
      shares: createLoadShares(),
      listed: undefined,
      round: 0,
      strangers: 0,
    }
    gpus.set(uuid, entry)
    return entry
  }

  const attribute = ({ gpu: index, uuid, usedBytes, processes, load, gap }: GpuProcesses): GpuMemoryOwners => {
    const gpu = gpuEntry(index, uuid)
    const round = ++gpu.round
    const readings: Reading[] = []
    const gaps: Gap[] = []
    const why = gap ?? { reason: 'driver_error' as const }
    if (processes === undefined) return { readings, gaps: [{ ...why, metric: gpuMemoryUnattributedBytes.name, labels: gpu.labels }] }

    let attributed = 0
    let unknown = 0
    let identified = 0
    if (gpu.listed?.of !== processes) gpu.listed = listedOf(processes)
    const { rows, pids } = gpu.listed
    const ratios = load === undefined ? undefined : gpu.shares.divide(load, pids, load.t)
    for (let at = 0; at < rows.length; at++) {
      const listed = rows[at]
      if (listed === undefined) continue
      const [key, row] = listed
      const place = (): Labels => ({
        ...gpu.labels,
        ...(row.gi === undefined ? {} : { gi: String(row.gi) }),
        ...(row.ci === undefined ? {} : { ci: String(row.ci) }),
      })
      const entry = processEntry(gpu, key, row, place)
      entry.seen = round
      if (entry.who !== undefined) identified++
      if (row.bytes === null) {
        unknown++
        gaps.push(entry.gap)
      } else {
        attributed += row.bytes
        readings.push((entry.last = again(entry.last, entry.series, row.bytes)))
      }
      const ratio = row.gi === undefined ? ratios?.get(row.pid) : undefined
      if (ratio !== undefined) readings.push((entry.lastRatio = again(entry.lastRatio, entry.utilization, round4(ratio))))
      const container = entry.who?.container
      if (container === undefined) continue
      const sum = containerEntry(gpu, keyOf(row, container.id), container, place)
      if (sum.seen !== round) {
        sum.seen = round
        sum.bytes = 0
        sum.unknown = 0
        sum.ratio = 0
      }
      sum.ratio += ratio ?? 0
      if (row.bytes === null) sum.unknown++
      else sum.bytes += row.bytes
    }
    // Since R535.113 the driver leaves out what the caller's pid namespace does not show; older ones list pids that are in no /proc there.
    const leftOut = seesAllProcesses === false && processes.length === 0 && (usedBytes ?? 0) >= HIDDEN_LEAST_BYTES
    gpu.strangers = leftOut || (processes.length > 0 && identified === 0 && seesAllProcesses !== true) ? gpu.strangers + 1 : 0
    if (gpu.strangers >= ROUNDS_OF_STRANGERS)
      gaps.push({
        metric: processGpuMemoryBytes.name,
        labels: gpu.labels,
        reason: 'no_permission',
        detail: leftOut
          ? 'memory is in use, but the driver lists no process to the agent, which does not see the processes of the host: inside a container start it with --pid=host (hostPID: true), and mind hidepid on the host'
          : 'none of the processes that the driver lists is in /proc: inside a container start the agent with --pid=host (hostPID: true), and mind hidepid on the host',
      })
    for (const [key, entry] of gpu.processes) if (entry.seen !== round) gpu.processes.delete(key)
    for (const [key, sum] of gpu.containers) {
      if (sum.seen !== round) gpu.containers.delete(key)
      else if (sum.unknown > 0) gaps.push(sum.gap)
      else readings.push((sum.last = again(sum.last, sum.series, sum.bytes)))
    }
    if (ratios !== undefined)
      for (const sum of gpu.containers.values())
        if (!isInInstance(sum.utilization)) readings.push((sum.lastRatio = again(sum.lastRatio, sum.utilization, round4(sum.ratio))))
    if (usedBytes === undefined) gaps.push({ ...why, metric: gpuMemoryUnattributedBytes.name, labels: gpu.labels })
    else if (unknown > 0)
      gaps.push({
        metric: gpuMemoryUnattributedBytes.name,
        labels: gpu.labels,
        reason: 'not_supported',
        detail: `the driver does not report the memory of ${unknown} of its processes`,
      })
    // Used memory and the list are read one after the other, so a process that grows between them can make the rest negative.
    else readings.push({ series: gpu.unattributed, value: Math.max(0, usedBytes - attributed) })
    return { readings, gaps }
  }
  return { attribute, forget: (uuid) => void gpus.delete(uuid) }
}
