// Host identity index, from the readings: GPUs by bus id, containers by id, processes and the GPUs they hold. From events only, so that a recording gives the same.
import { busKey } from '../../inventory/bus.ts'
import { containerOf, gpuOf, processOf, type Gpu, type GpuProcess, type HostContainer } from '../../inventory/identity.ts'
import { containerGpuRequested, containerInfo } from '../../metrics/container.ts'
import { gpuInfo } from '../../metrics/gpu-identity.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { Event } from '../../model/event.ts'
import type { Series } from '../../model/series.ts'

export type KnownGpu = Pick<Gpu, 'index' | 'uuid' | 'name' | 'bus'>
export type KnownContainer = HostContainer
export type KnownProcess = Omit<GpuProcess, 'labels'> & { readonly lastT: number }

export type HostIdentityIndex = {
  readonly ingest: (event: Event) => void
  readonly gpus: () => Iterable<KnownGpu>
  readonly gpuByUuid: (uuid: string) => KnownGpu | undefined
  /** Any spelling of a PCI address. */
  readonly gpuByBus: (bus: string) => KnownGpu | undefined
  readonly container: (id: string) => KnownContainer | undefined
  readonly containerNamed: (name: string) => KnownContainer | undefined
  /** UUIDs of the GPUs that a container was given, in the host's order; undefined when unknown. */
  readonly requested: (containerId: string) => readonly string[] | undefined
  /** Processes that held GPU memory a moment before `t`. */
  readonly processes: (t: number) => readonly KnownProcess[]
  /** Of the GPUs' driver; undefined as long as nobody said. */
  readonly driver: () => { readonly version: string; readonly cuda: string | undefined } | undefined
  /** When this GPU was last read. */
  readonly gpuReadAt: (uuid: string) => number | undefined
}

/** A process that crashes is gone from the driver's list before its log line is read; this long it is still believed to have been there. */
const PROCESS_MEMORY_MS = 20_000
export const MAX_KNOWN = 5_000

function trim<K, V>(map: Map<K, V>, max = MAX_KNOWN): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}

type Request = { t: number; readonly gpus: Map<string, number> }

/** It is known by more than the id that replaces its name. */
const isNamed = ({ id, name }: KnownContainer): boolean => name !== id

export function createHostIdentityIndex(): HostIdentityIndex {
  const gpus = new Map<string, KnownGpu>()
  const containers = new Map<string, KnownContainer>()
  const processes = new Map<string, { -readonly [K in keyof KnownProcess]: KnownProcess[K] }>()
  const requests = new Map<string, Request>()
  const readAt = new Map<string, number>()
  let sweptT: number | undefined

  const learnContainer = (series: Series): string | undefined => {
    const who = containerOf(series)
    if (who === undefined) return undefined
    const known = containers.get(who.id)
    // A list made while the engine did not answer knows less than an event of its that came before.
    if (known !== undefined && isNamed(known) && !isNamed(who)) return who.id
    if (known === undefined || known.name !== who.name || known.image !== who.image || known.pod !== who.pod) {
      containers.set(who.id, who)
      trim(containers)
    }
    return who.id
  }
  let driver: ReturnType<HostIdentityIndex['driver']>
  const learnGpu = (series: Series): void => {
    const gpu = gpuOf(series)
    if (gpu === undefined) return
    const { driver_version: version, cuda_version: cuda } = series.labels
    if (version !== undefined && driver?.version !== version) driver = { version, cuda }
    gpus.set(gpu.uuid, gpu)
    trim(gpus, 1_024)
  }
  const learnRequest = (series: Series, t: number): void => {
    const id = learnContainer(series)
    const { uuid, gpu } = series.labels
    if (id === undefined || uuid === undefined) return
    let request = requests.get(id)
    // Each scrape reports all of it: what an older scrape said does not add to it.
    if (request === undefined || request.t !== t) requests.set(id, (request = { t, gpus: new Map() }))
    request.gpus.set(uuid, Number(gpu))
    trim(requests)
  }
  /** One look a second: where more than that many live, the later ones stay unknown, and looking for each of them would cost a pass over all. */
  const roomForProcess = (t: number): boolean => {
    if (processes.size < MAX_KNOWN) return true
    if (sweptT === t) return false
    sweptT = t
    for (const [key, { lastT }] of processes) if (Math.abs(t - lastT) > PROCESS_MEMORY_MS) processes.delete(key)
    return processes.size < MAX_KNOWN
  }
  const learnProcess = (series: Series, t: number): void => {
    const process = processOf(series)
    if (process === undefined) return
    const key = `${process.uuid} ${process.pid} ${process.name ?? ''}`
    const known = processes.get(key)
    if (known !== undefined && known.containerId === process.containerId) {
      known.lastT = t
      return
    }
    if (known === undefined && !roomForProcess(t)) return
    learnContainer(series)
    processes.set(key, { ...process, lastT: t })
  }

  return {
    ingest(event) {
      if (event.type === 'container') {
        const known = containers.get(event.container_id)
        if (known === undefined || !isNamed(known)) {
          containers.set(event.container_id, {
            ...known,
            id: event.container_id,
            name: event.container,
            ...(event.image === undefined ? {} : { image: event.image }),
          })
          trim(containers)
        }
        return
      }
      if (event.type !== 'scrape') return
      const { readings } = event
      for (let at = 0; at < readings.length; at++) {
        const reading = readings[at]
        if (reading === undefined) continue
        const { series } = reading
        switch (series.metric.name) {
          case gpuInfo.name:
            learnGpu(series)
            break
          case containerInfo.name:
            learnContainer(series)
            break
          case containerGpuRequested.name:
            learnRequest(series, event.t)
            break
          case processGpuMemoryBytes.name:
            learnProcess(series, event.t)
            break
          case gpuMemoryUsedBytes.name:
            if (series.labels['uuid'] === undefined) break
            readAt.set(series.labels['uuid'], event.t)
            // Recordings of other makers may hold no gpu_info: number and UUID are in each reading.
            if (series.labels['gi'] === undefined && !gpus.has(series.labels['uuid'])) learnGpu(series)
            break
          default:
        }
      }
    },
    gpus: () => gpus.values(),
    gpuByUuid: (uuid) => gpus.get(uuid),
    gpuByBus(bus) {
      const key = busKey(bus)
      for (const gpu of gpus.values()) if (key !== undefined && gpu.bus === key) return gpu
      return undefined
    },
    container: (id) => containers.get(id.slice(0, 12)),
    containerNamed(name) {
      let found: KnownContainer | undefined
      for (const container of containers.values()) if (container.name === name) found = container // the newest of that name
      return found
    },
    requested(containerId) {
      const request = requests.get(containerId.slice(0, 12))
      return request === undefined ? undefined : [...request.gpus].sort((a, b) => a[1] - b[1]).map(([uuid]) => uuid)
    },
    processes: (t) => [...processes.values()].filter(({ lastT }) => Math.abs(t - lastT) <= PROCESS_MEMORY_MS),
    driver: () => driver,
    gpuReadAt: (uuid) => readAt.get(uuid),
  }
}
