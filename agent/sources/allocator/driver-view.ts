// What the driver says, as far as probes need it: memory of each GPU and MIG instance, who holds some, who is who.
import { containerGpuRequested } from '../../metrics/container.ts'
import { gpuInfo } from '../../metrics/gpu-identity.ts'
import { gpuMemoryFreeBytes, gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { gpuMigInfo } from '../../metrics/mig.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { LatestStore } from '../../store/latest.ts'
import type { Labels } from '../../model/series.ts'
import type { DriverMemory, GpuPlace } from './readings.ts'

export type Holding = GpuPlace & { readonly t: number; readonly bytes: number }
export type DriverView = {
  /** Looks again, unless the last look is no older than `maxAgeMs`. To be called once a second. */
  readonly refresh: (maxAgeMs?: number) => void
  /** Of the GPU or its instance, with what the driver counts for the process. */
  readonly memory: (place: GpuPlace, pid: number) => DriverMemory | undefined
  /** Where the driver lists this process. */
  readonly holdings: (pid: number) => readonly Holding[]
  /** All that hold GPU memory. */
  readonly pids: () => Iterable<number>
  readonly gpu: (uuid: string) => GpuPlace | undefined
  readonly mig: (migUuid: string) => GpuPlace | undefined
  readonly byBus: (pciBusId: string) => GpuPlace | undefined
  /** GPUs that a container was given, in the host's order. */
  readonly given: (containerId: string) => readonly GpuPlace[]
}

type Memory = { readonly t: number; used: number | undefined; free: number | undefined }
const NONE: readonly never[] = []

const keyOf = (uuid: string, gi: string | undefined, ci: string | undefined): string => (gi === undefined ? uuid : `${uuid} ${gi} ${ci ?? ''}`)
/** NVML writes eight digits of domain, others four. */
const busKey = (id: string): string =>
  id
    .toLowerCase()
    .replace(/^0{4,}(?=[0-9a-f]{4}:)/, '')
    .replace(/^(?=[0-9a-f]{2}:[0-9a-f]{2}\.)/, '0000:')

function placeOf(labels: Labels): GpuPlace | undefined {
  const { gpu, uuid, gi, ci, mig_uuid: migUuid } = labels
  if (gpu === undefined || uuid === undefined) return undefined
  return { gpu, uuid, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }), ...(migUuid === undefined ? {} : { migUuid }) }
}

export function createDriverView(latest: LatestStore): DriverView {
  let memories = new Map<string, Memory>()
  let held = new Map<number, Holding[]>()
  let gpus = new Map<string, GpuPlace>()
  let migs = new Map<string, GpuPlace>()
  let buses = new Map<string, GpuPlace>()
  let given = new Map<string, GpuPlace[]>()

  const memory = (labels: Labels, group: object, t: number): Memory => {
    const key = keyOf(labels['uuid'] ?? '', labels['gi'], labels['ci'])
    let entry = memories.get(key)
    // Used and free of one scrape only: apart they may be a second apart.
    if (entry === undefined || scrapes.get(entry) !== group) {
      entry = { t, used: undefined, free: undefined }
      memories.set(key, entry)
      scrapes.set(entry, group)
    }
    return entry
  }
  const scrapes = new WeakMap<Memory, object>()

  let lookedAt = Number.NEGATIVE_INFINITY
  const refresh = (maxAgeMs = -1): void => {
    const at = performance.now()
    if (at - lookedAt <= maxAgeMs) return
    lookedAt = at
    memories = new Map()
    held = new Map()
    gpus = new Map()
    migs = new Map()
    buses = new Map()
    given = new Map()
    for (const group of latest.groups()) {
      if (group.source === 'allocator') continue
      for (const { series, value } of group.readings) {
        const { labels } = series
        switch (series.metric.name) {
          case gpuMemoryUsedBytes.name:
            memory(labels, group, group.t).used = value
            break
          case gpuMemoryFreeBytes.name:
            memory(labels, group, group.t).free = value
            break
          case processGpuMemoryBytes.name: {
            const place = placeOf(labels)
            const pid = Number(labels['pid'])
            if (place === undefined) break
            const holding = { ...place, t: group.t, bytes: value }
            const known = held.get(pid)
            if (known === undefined) held.set(pid, [holding])
            else known.push(holding)
            break
          }
          case gpuInfo.name: {
            const place = placeOf(labels)
            if (place === undefined) break
            gpus.set(place.uuid, place)
            if (labels['pci_bus_id'] !== undefined) buses.set(busKey(labels['pci_bus_id']), place)
            break
          }
          case gpuMigInfo.name: {
            const place = placeOf(labels)
            if (place?.migUuid !== undefined) migs.set(place.migUuid, place)
            break
          }
          case containerGpuRequested.name: {
            const place = placeOf(labels)
            const id = labels['container_id']
            if (place === undefined || id === undefined || value !== 1) break
            const known = given.get(id)
            if (known === undefined) given.set(id, [place])
            else known.push(place)
            break
          }
          default:
        }
      }
    }
    for (const places of given.values()) places.sort((a, b) => Number(a.gpu) - Number(b.gpu))
  }
  return {
    refresh,
    memory({ uuid, gi, ci }, pid) {
      const entry = memories.get(keyOf(uuid, gi, ci))
      if (entry?.used === undefined || entry.free === undefined) return undefined
      const mine = held.get(pid)?.find((holding) => holding.uuid === uuid && holding.gi === gi && holding.ci === ci)
      return { t: entry.t, usedBytes: entry.used, freeBytes: entry.free, ...(mine === undefined ? {} : { processBytes: mine.bytes }) }
    },
    holdings: (pid) => held.get(pid) ?? NONE,
    pids: () => held.keys(),
    gpu: (uuid) => gpus.get(uuid),
    mig: (migUuid) => migs.get(migUuid),
    byBus: (id) => buses.get(busKey(id)),
    given: (containerId) => given.get(containerId.slice(0, 12)) ?? NONE,
  }
}
