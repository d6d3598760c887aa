// What the driver says, as far as probes need it: memory of each GPU and MIG instance, who holds some, who is who.
import type { MigInstance } from '../../inventory/identity.ts'
import type { Holding as Held, HostGpu } from '../../inventory/inventory.ts'
import { gpuMemoryFreeBytes, gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
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
const gpuPlace = ({ uuid, index }: { readonly uuid: string; readonly index: number }): GpuPlace => ({ gpu: String(index), uuid })
const migPlace = ({ migUuid, gi, ci, ...gpu }: MigInstance): GpuPlace => ({
  ...gpuPlace(gpu),
  gi,
  ...(ci === '' ? {} : { ci }),
  ...(migUuid === undefined ? {} : { migUuid }),
})
const placed = (gpu: HostGpu | undefined): GpuPlace | undefined => (gpu === undefined || Number.isNaN(gpu.index) ? undefined : gpuPlace(gpu))
function holdingOf({ uuid, gpu, labels: { gi, ci }, t, bytes }: Held): Holding {
  return { gpu, uuid, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }), t, bytes }
}

export function createDriverView(latest: LatestStore): DriverView {
  let memories = new Map<string, Memory>()
  const { inventory } = latest

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
    for (const group of latest.groups()) {
      if (group.source === 'allocator') continue
      const { readings } = group
      for (let at = 0; at < readings.length; at++) {
        const reading = readings[at]
        if (reading === undefined) continue
        const { series, value } = reading
        const { labels } = series
        switch (series.metric.name) {
          case gpuMemoryUsedBytes.name:
            memory(labels, group, group.t).used = value
            break
          case gpuMemoryFreeBytes.name:
            memory(labels, group, group.t).free = value
            break
          default:
        }
      }
    }
  }
  return {
    refresh,
    memory({ uuid, gi, ci }, pid) {
      const entry = memories.get(keyOf(uuid, gi, ci))
      if (entry?.used === undefined || entry.free === undefined) return undefined
      const mine = inventory.holdings(pid).find(({ uuid: on, labels }) => on === uuid && labels['gi'] === gi && labels['ci'] === ci)
      return { t: entry.t, usedBytes: entry.used, freeBytes: entry.free, ...(mine === undefined ? {} : { processBytes: mine.bytes }) }
    },
    holdings: (pid) =>
      inventory
        .holdings(pid)
        .filter(({ gpu }) => gpu !== '')
        .map(holdingOf),
    pids: () => new Set(inventory.processes().map(({ pid }) => pid)),
    gpu: (uuid) => placed(inventory.byUuid(uuid)),
    mig(migUuid) {
      const mig = inventory.migByUuid(migUuid)
      return mig === undefined ? undefined : migPlace(mig)
    },
    byBus: (id) => placed(inventory.byBus(id)),
    given: (containerId) => inventory.container(containerId)?.given.map(gpuPlace) ?? NONE,
  }
}
