// Who holds memory of which GPU now, for whom it works (container, Slurm job, unit), and whether the driver's list was read at all.
import { gpuMemoryUnattributedBytes } from '../../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../../metrics/process.ts'
import type { Labels, Series } from '../../../model/series.ts'
import { andList } from '../../../text/grammar.ts'
import type { Present } from './present.ts'
import type { Tracks } from './tracks.ts'
import { processText } from './who.ts'

export const HOLDER_METRICS = [processGpuMemoryBytes.name, gpuMemoryUnattributedBytes.name] as const
const [PROCESS, UNATTRIBUTED] = HOLDER_METRICS

export type Holder = {
  readonly uuid: string
  readonly pid: number
  /** Of the MIG instance it runs in. */
  readonly gi: string | undefined
  /** `/proc/PID/comm` as read now; undefined when the pid is in no /proc that the agent sees. */
  readonly process: string | undefined
  readonly container: string | undefined
  readonly containerId: string | undefined
  /** What it belongs to: equal for all processes of one container, Slurm job or unit. */
  readonly owner: string
  /** The owner as text: `container trainer`, `Slurm job 17`. */
  readonly ownerText: string
  /** Graphics alone (a desktop) is no job. */
  readonly computes: boolean
  bytes: number
  /** When the list had it last. */
  seenT: number
}
export type GpuHolders = {
  readonly uuid: string
  index: number
  /** Whether the driver's list was read, be it empty. */
  listed: boolean
  /** Largest first; also who was on a list of the last seconds, since a driver's list may leave a process out once. */
  holders: readonly Holder[]
}
export type Holders = {
  /** One look; the same objects are filled again by the next. */
  readonly read: (t: number) => ReadonlyMap<string, GpuHolders>
}

function ownerOf(labels: Labels): Pick<Holder, 'owner' | 'ownerText'> {
  const { container, container_id: id, slurm_job: job, unit, pid, process } = labels
  if (id !== undefined) return { owner: `container ${id}`, ownerText: `container ${container ?? id}` }
  if (container !== undefined) return { owner: `container ${container}`, ownerText: `container ${container}` }
  if (job !== undefined) return { owner: `job ${job}`, ownerText: `Slurm job ${job}` }
  if (unit !== undefined) return { owner: `unit ${unit}`, ownerText: unit }
  return { owner: `pid ${pid ?? ''}`, ownerText: processText({ pid: Number(pid), process, container: undefined }) }
}

function holderOf(labels: Labels): Holder {
  const { uuid = '', pid, gi, process, container, container_id: containerId, type } = labels
  // nvidia-smi's letters: C compute, G graphics, M MPS.
  const computes = type === undefined || type.includes('C') || type.includes('M')
  return { uuid, pid: Number(pid), gi, process, container, containerId, ...ownerOf(labels), computes, bytes: 0, seenT: 0 }
}

const MAX_GPUS = 1_024
/** One look of ten seconds, and a little more. */
const KEPT_MS = 15_000
const NONE: readonly Holder[] = []

export function createHolders(present: Present): Holders {
  const gpus = new Map<string, GpuHolders & { readonly recent: Map<string, Holder> }>()
  const known = new WeakMap<Series, Holder>()
  const gpuOf = ({ uuid = '', gpu }: Labels) => {
    let entry = gpus.get(uuid)
    if (entry === undefined) {
      if (gpus.size >= MAX_GPUS) gpus.clear()
      gpus.set(uuid, (entry = { uuid, index: Number(gpu), listed: false, holders: NONE, recent: new Map() }))
    }
    entry.index = Number(gpu)
    return entry
  }
  return {
    read(t) {
      for (const gpu of gpus.values()) {
        gpu.listed = false
        gpu.holders = NONE
      }
      for (const { series } of present.of(UNATTRIBUTED)) gpuOf(series.labels).listed = true
      for (const { series, value } of present.of(PROCESS)) {
        let holder = known.get(series)
        if (holder === undefined) known.set(series, (holder = holderOf(series.labels)))
        holder.bytes = value
        holder.seenT = t
        const gpu = gpuOf(series.labels)
        gpu.listed = true
        gpu.recent.set(`${holder.pid} ${holder.gi ?? ''}`, holder)
      }
      for (const gpu of gpus.values()) {
        for (const [key, { seenT }] of gpu.recent) if (t < seenT || t - seenT > KEPT_MS) gpu.recent.delete(key)
        if (gpu.listed && gpu.recent.size > 0) gpu.holders = [...gpu.recent.values()].sort((a, b) => b.bytes - a.bytes || a.pid - b.pid)
      }
      return gpus
    },
  }
}

/** When the process was first seen on its GPU; the agent may have started later than it did. */
export const firstSeen = (tracks: Tracks, { uuid, pid }: Holder): number | undefined => tracks.get(uuid, pid)?.firstT

const NAMED = 3
/** `process python (7) of container a (12.0 GiB), … and 2 more`. */
export function holdersText(holders: readonly Holder[], size: (bytes: number) => string): string {
  const named = holders.slice(0, NAMED).map((holder) => `${processText(holder)} (${size(holder.bytes)})`)
  const more = holders.length - named.length
  if (more > 0) named.push(`${more} more`)
  return named.length === 0 ? 'nobody' : andList(named)
}
