// What the readings say of who is who: GPUs by bus id, containers by id, processes and the GPUs they hold. From events only, so that a recording gives the same.
import { containerGpuRequested, containerInfo } from '../../metrics/container.ts'
import { gpuInfo } from '../../metrics/gpu-identity.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { Event } from '../../model/event.ts'
import type { Labels } from '../../model/series.ts'

export type KnownGpu = { readonly index: number; readonly uuid: string; readonly name?: string; readonly busId?: string }
export type KnownContainer = {
  readonly id: string
  readonly name: string
  readonly image?: string
  readonly namespace?: string
  readonly pod?: string
}
export type KnownProcess = {
  readonly pid: number
  readonly innerPid?: number
  readonly name?: string
  readonly containerId?: string
  readonly uuid: string
  readonly gpu: string
  readonly lastT: number
}

export type Witness = {
  readonly ingest: (event: Event) => void
  readonly gpus: () => Iterable<KnownGpu>
  readonly gpuByUuid: (uuid: string) => KnownGpu | undefined
  /** Any spelling of a PCI address. */
  readonly gpuByBus: (bus: string) => KnownGpu | undefined
  readonly container: (id: string) => KnownContainer | undefined
  readonly containerNamed: (name: string) => KnownContainer | undefined
  /** UUIDs of the GPUs that a container was given, in the host's order; undefined when nobody said. */
  readonly requested: (containerId: string) => readonly string[] | undefined
  /** Processes that held GPU memory a moment before `t`. */
  readonly processes: (t: number) => readonly KnownProcess[]
  /** When this GPU was last read. */
  readonly gpuReadAt: (uuid: string) => number | undefined
}

/** `0000:3b:00`, `PCI:00000000:3B:00.0` and the like, to one form: domain, bus, device. A GPU has one function. */
export function busKey(bus: string): string | undefined {
  const match = /(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-9a-f])?/i.exec(bus)
  if (match?.[2] === undefined || match[3] === undefined) return undefined
  return `${Number.parseInt(match[1] ?? '0', 16).toString(16)}:${match[2].toLowerCase()}:${match[3].toLowerCase()}`
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

export function createWitness(): Witness {
  const gpus = new Map<string, KnownGpu>()
  const containers = new Map<string, KnownContainer>()
  const processes = new Map<string, { -readonly [K in keyof KnownProcess]: KnownProcess[K] }>()
  const requests = new Map<string, Request>()
  const readAt = new Map<string, number>()
  let sweptT: number | undefined

  const learnContainer = (labels: Labels): string | undefined => {
    const id = labels['container_id']
    if (id === undefined) return undefined
    const known = containers.get(id)
    const name = labels['container'] ?? id
    if (known === undefined || known.name !== name || known.image !== labels['image'] || known.pod !== labels['pod']) {
      const { image, namespace, pod } = labels
      containers.set(id, {
        id,
        name,
        ...(image === undefined ? {} : { image }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(pod === undefined ? {} : { pod }),
      })
      trim(containers)
    }
    return id
  }
  const learnGpu = (labels: Labels): void => {
    const { uuid, gpu, name } = labels
    if (uuid === undefined) return
    const bus = labels['pci_bus_id'] === undefined ? undefined : busKey(labels['pci_bus_id'])
    gpus.set(uuid, { index: Number(gpu), uuid, ...(name === undefined ? {} : { name }), ...(bus === undefined ? {} : { busId: bus }) })
    trim(gpus, 1_024)
  }
  const learnRequest = (labels: Labels, t: number): void => {
    const id = learnContainer(labels)
    const { uuid, gpu } = labels
    if (id === undefined || uuid === undefined) return
    let request = requests.get(id)
    // Said anew in each scrape: what an older scrape said does not add to it.
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
  const learnProcess = (labels: Labels, t: number): void => {
    const { pid, uuid, gpu } = labels
    if (pid === undefined || uuid === undefined) return
    const key = `${uuid} ${pid} ${labels['process'] ?? ''}`
    const known = processes.get(key)
    const containerId = labels['container_id']
    if (known !== undefined && known.containerId === containerId) {
      known.lastT = t
      return
    }
    if (known === undefined && !roomForProcess(t)) return
    learnContainer(labels)
    const inner = labels['inner_pid']
    const name = labels['process']
    processes.set(key, {
      pid: Number(pid),
      uuid,
      gpu: gpu ?? '',
      lastT: t,
      ...(inner === undefined ? {} : { innerPid: Number(inner) }),
      ...(name === undefined ? {} : { name }),
      ...(containerId === undefined ? {} : { containerId }),
    })
  }

  return {
    ingest(event) {
      if (event.type === 'container') {
        if (!containers.has(event.container_id)) {
          containers.set(event.container_id, { id: event.container_id, name: event.container, ...(event.image === undefined ? {} : { image: event.image }) })
          trim(containers)
        }
        return
      }
      if (event.type !== 'scrape') return
      for (const { series } of event.readings) {
        switch (series.metric.name) {
          case gpuInfo.name:
            learnGpu(series.labels)
            break
          case containerInfo.name:
            learnContainer(series.labels)
            break
          case containerGpuRequested.name:
            learnRequest(series.labels, event.t)
            break
          case processGpuMemoryBytes.name:
            learnProcess(series.labels, event.t)
            break
          case gpuMemoryUsedBytes.name:
            if (series.labels['uuid'] === undefined) break
            readAt.set(series.labels['uuid'], event.t)
            // Recordings of other makers may hold no gpu_info: number and UUID stand in each reading.
            if (series.labels['gi'] === undefined && !gpus.has(series.labels['uuid'])) learnGpu(series.labels)
            break
          default:
        }
      }
    },
    gpus: () => gpus.values(),
    gpuByUuid: (uuid) => gpus.get(uuid),
    gpuByBus(bus) {
      const key = busKey(bus)
      for (const gpu of gpus.values()) if (key !== undefined && gpu.busId === key) return gpu
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
    gpuReadAt: (uuid) => readAt.get(uuid),
  }
}
