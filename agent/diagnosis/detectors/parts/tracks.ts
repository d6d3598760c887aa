// One track per process and GPU: what the driver and the probe last reported of it, and whether it still runs.
import { gpuMemoryFreeBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes } from '../../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../../metrics/process.ts'
import type { AllocatorOom, AllocatorSample, Event, Scrape } from '../../../model/event.ts'
import type { Labels } from '../../../model/series.ts'
import { createMemoryHistory, type MemoryHistory } from './memory-history.ts'

export type Track = {
  /** `uuid pid`. */
  readonly key: string
  readonly pid: number
  readonly uuid: string
  readonly firstT: number
  /** As the newest source that knew said. */
  container: string | undefined
  containerId: string | undefined
  process: string | undefined
  /** Of the driver's list; undefined when the driver has not named it yet. */
  nvml: { readonly t: number; readonly bytes: number } | undefined
  /** Of the probe; undefined without a probe. */
  sample: AllocatorSample | undefined
  /** Newest OOM that the probe reported. */
  oom: AllocatorOom | undefined
  /** When it was known to have ended: the driver's list came several times without it. */
  endedT: number | undefined
  /** Lists of its GPU that came without it. */
  missed: number
  /** A MIG instance: its card's figures are not its own. */
  mig: boolean
  /** Its memory in windows, for what judges trends. */
  readonly memory: MemoryHistory
}
/** One GPU as of its newest complete scrape: used and free come from one reading, so that their sum is steady. */
export type GpuMemory = { readonly t: number; readonly index: number; readonly used: number; readonly free: number; readonly total: number | undefined }

export type Tracks = {
  readonly all: () => Iterable<Track>
  readonly get: (uuid: string, pid: number) => Track | undefined
  readonly onGpu: (uuid: string) => readonly Track[]
  readonly gpu: (uuid: string) => GpuMemory | undefined
  readonly gpus: () => ReadonlyMap<string, GpuMemory>
}
export type TracksFold = Tracks & { readonly ingest: (event: Event) => void; readonly moveTo: (t: number) => void }

const PROCESS = processGpuMemoryBytes.name
const USED = gpuMemoryUsedBytes.name
const FREE = gpuMemoryFreeBytes.name
const TOTAL = gpuMemoryTotalBytes.name

/** A driver's list may leave a process out once (it is read while the process is being made); three times running it has ended. */
const MISSED_TO_END = 3
/** Neither listed nor reported by a probe for this long, as when its GPU is no longer read: dropped first when space is needed, along with what has ended. */
const UNHEARD_MS = 3_600_000
/** Known by the probe alone and silent for so long. */
const PROBE_SILENT_MS = 60_000
/** A source may read the card and its processes a moment apart; the next round is further away. */
const ONE_TIME_MS = 400
/**
 * Where more live than this, the later ones have no track: replacing one that runs by another would cost each its history, every second.
 * A process that is watched for two days takes 141 kB (with `incidents/oom/past.ts`), so all of them 280 MB.
 */
export const MAX_TRACKS = 2_000

export function createTracks(): TracksFold {
  const tracks = new Map<string, Track>()
  const gpus = new Map<string, GpuMemory>()
  const memory = new Map<string, { used: number | undefined; usedT: number; free: number | undefined; freeT: number; total: number | undefined }>()
  /** What makes room for new ones, in the order in which it ended or was given up for unheard. */
  const expendable = new Set<Track>()
  /** GPUs of which the scrape that is being taken in brings figures or processes. */
  const touched = new Set<string>()
  /** Groups of scrapes that bring a list of processes, by source and group. */
  const lists = new Map<string, { readonly members: Set<Track> }>()

  /** Undefined where the table is full: all known ones still run. */
  const trackOf = (uuid: string, pid: number, t: number): Track | undefined => {
    const key = `${uuid} ${pid}`
    const known = tracks.get(key)
    if (known !== undefined && known.endedT === undefined) {
      expendable.delete(known)
      return known
    }
    // The number of one that has ended may be given again.
    if (known !== undefined) forget(known)
    else if (tracks.size >= MAX_TRACKS) {
      const [first] = expendable
      if (first === undefined) return undefined
      forget(first)
    }
    const track: Track = {
      key,
      pid,
      uuid,
      firstT: t,
      container: undefined,
      containerId: undefined,
      process: undefined,
      nvml: undefined,
      sample: undefined,
      oom: undefined,
      endedT: undefined,
      missed: 0,
      mig: false,
      memory: createMemoryHistory(),
    }
    tracks.set(key, track)
    return track
  }
  const forget = (track: Track): void => {
    tracks.delete(track.key)
    expendable.delete(track)
  }
  const end = (track: Track, t: number): void => {
    track.endedT ??= t
    // One that had to make room may still stand in its list.
    if (tracks.get(track.key) === track) expendable.add(track)
  }
  const listed = (labels: Labels, t: number, bytes: number, members: Set<Track>): void => {
    const { uuid, pid } = labels
    if (uuid === undefined || pid === undefined) return
    const track = trackOf(uuid, Number(pid), t)
    if (track === undefined) return
    touched.add(uuid)
    // A MIG instance has entries of its own for one process: they add up.
    track.nvml = { t, bytes: bytes + (track.nvml?.t === t && labels['gi'] !== undefined ? track.nvml.bytes : 0) }
    track.container = labels['container'] ?? track.container
    track.containerId = labels['container_id'] ?? track.containerId
    track.process = labels['process'] ?? track.process
    track.missed = 0
    track.mig ||= labels['gi'] !== undefined
    members.add(track)
  }
  const onScrape = (scrape: Scrape): void => {
    const { t, source, group, readings } = scrape
    touched.clear()
    let list = lists.get(`${source}\n${group}`)
    for (let at = 0; at < readings.length; at++) {
      const reading = readings[at]
      if (reading === undefined) continue
      const { series, value } = reading
      const { name } = series.metric
      if (name === PROCESS) {
        if (list === undefined) lists.set(`${source}\n${group}`, (list = { members: new Set() }))
        listed(series.labels, t, value, list.members)
      } else if (name === USED || name === FREE || name === TOTAL) noteMemory(name, series.labels, t, value)
    }
    if (touched.size > 0) noteHistory(t)
    if (list === undefined || scrape.gaps.some(({ metric }) => metric === PROCESS || metric === source)) return
    for (const track of list.members) {
      if (track.nvml?.t === t || ++track.missed < MISSED_TO_END) continue
      end(track, t)
      list.members.delete(track)
    }
  }
  /** The card's figures and the process's own must be of one time, whichever scrape brought them. */
  const noteHistory = (t: number): void => {
    tracks.forEach(({ nvml, uuid, endedT, mig, memory: history }) => {
      if (nvml === undefined || endedT !== undefined || mig || !touched.has(uuid)) return
      const gpu = gpus.get(uuid)
      if (gpu !== undefined && (nvml.t === t || gpu.t === t) && Math.abs(gpu.t - nvml.t) <= ONE_TIME_MS) history.onCard(gpu.t, gpu.used, gpu.free, nvml.bytes)
    })
  }
  /** Used and free come as readings of their own; they belong together when they are of one time. */
  const noteMemory = (name: string, { uuid, gpu, gi }: Labels, t: number, value: number): void => {
    if (uuid === undefined || gi !== undefined) return
    let staged = memory.get(uuid)
    if (staged === undefined) memory.set(uuid, (staged = { used: undefined, usedT: 0, free: undefined, freeT: 0, total: undefined }))
    if (name === TOTAL) staged.total = value
    else if (name === USED) [staged.used, staged.usedT] = [value, t]
    else [staged.free, staged.freeT] = [value, t]
    const { used, free, total } = staged
    if (name !== TOTAL && used !== undefined && free !== undefined && staged.usedT === staged.freeT)
      gpus.set(uuid, { t, index: Number(gpu), used, free, total })
    touched.add(uuid)
  }
  const onProbe = (event: AllocatorSample | AllocatorOom): void => {
    const track = trackOf(event.uuid, event.pid, event.t)
    if (track === undefined) return
    track.container ??= event.container
    if (event.type === 'allocator_oom') track.oom = event
    else {
      track.sample = event
      track.memory.onSample(event)
    }
  }

  return {
    ingest(event) {
      if (event.type === 'scrape') onScrape(event)
      else if (event.type === 'allocator' || event.type === 'allocator_oom') onProbe(event)
    },
    moveTo(t) {
      for (const track of tracks.values()) {
        const { sample, nvml, oom, firstT, endedT } = track
        if (endedT !== undefined) continue
        // A process that the driver never listed ends with its probe.
        if (nvml === undefined && sample !== undefined && t - sample.t > PROBE_SILENT_MS) end(track, t)
        else if (t - Math.max(firstT, nvml?.t ?? 0, sample?.t ?? 0, oom?.t ?? 0) > UNHEARD_MS) expendable.add(track)
      }
    },
    all: () => tracks.values(),
    get: (uuid, pid) => tracks.get(`${uuid} ${pid}`),
    onGpu: (uuid) => [...tracks.values()].filter((track) => track.uuid === uuid && track.endedT === undefined),
    gpu: (uuid) => gpus.get(uuid),
    gpus: () => gpus,
  }
}
