// Identity of GPUs, MIG instances, containers and processes from the labels of a series. What no label gives is absent.
import type { Labels, Series } from '../model/series.ts'
import { busKey } from './bus.ts'

export type Gpu = {
  readonly uuid: string
  /** The host's number; NaN where only the UUID is known. */
  readonly index: number
  readonly name?: string
  /** nvidia, amd, intel; absent in recordings of versions that did not tell. */
  readonly vendor?: string
  /** As the driver spells it. */
  readonly pciBusId?: string
  /** One form for all spellings (`busKey`). */
  readonly bus?: string
  /** N of /dev/nvidiaN; not always the index. */
  readonly minor?: number
  readonly labels: Labels
}
/** A MIG instance: `uuid` and `index` are those of its GPU. */
export type MigInstance = {
  readonly migUuid?: string
  readonly uuid: string
  readonly index: number
  readonly gi: string
  readonly ci: string
  readonly labels: Labels
}
export type HostContainer = {
  /** 12 hex digits. */
  readonly id: string
  readonly name: string
  readonly image?: string
  readonly namespace?: string
  readonly pod?: string
}
/** A process that holds memory of a GPU or a MIG instance. */
export type GpuProcess = {
  readonly pid: number
  /** The pid that it has inside its container. */
  readonly innerPid?: number
  readonly name?: string
  readonly containerId?: string
  readonly uuid: string
  /** Index of the GPU, as the label has it; empty where it is not known. */
  readonly gpu: string
  readonly labels: Labels
}

/** Sources emit the same Series object each time: each is read once. */
function once<T>(read: (labels: Labels) => T | undefined): (series: Series) => T | undefined {
  const known = new WeakMap<Series, { readonly found: T | undefined }>()
  return (series) => {
    let entry = known.get(series)
    if (entry === undefined) known.set(series, (entry = { found: read(series.labels) }))
    return entry.found
  }
}

/** Of `warpwatch_gpu_info`; in recordings of other makers of any series of a GPU. undefined: without a UUID. */
export const gpuOf = once<Gpu>((labels) => {
  const { uuid, gpu, name, vendor, pci_bus_id: pciBusId, minor } = labels
  if (uuid === undefined) return undefined
  const bus = pciBusId === undefined ? undefined : busKey(pciBusId)
  return {
    uuid,
    index: Number(gpu),
    ...(name === undefined ? {} : { name }),
    ...(vendor === undefined ? {} : { vendor }),
    ...(pciBusId === undefined ? {} : { pciBusId }),
    ...(bus === undefined ? {} : { bus }),
    ...(minor === undefined || minor === '' ? {} : { minor: Number(minor) }),
    labels,
  }
})

/** Of `warpwatch_gpu_mig_info`. */
export const migOf = once<MigInstance>((labels) => {
  const { mig_uuid: migUuid, uuid, gpu, gi, ci = '' } = labels
  return uuid === undefined || gi === undefined ? undefined : { uuid, index: Number(gpu), gi, ci, labels, ...(migUuid === undefined ? {} : { migUuid }) }
})

/** Of any series that carries a container's labels. undefined: outside of containers. */
export const containerOf = once<HostContainer>((labels) => {
  const { container_id: id, container, image, namespace, pod } = labels
  if (id === undefined) return undefined
  return {
    id,
    name: container ?? id,
    ...(image === undefined ? {} : { image }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(pod === undefined ? {} : { pod }),
  }
})

/** Of `warpwatch_process_gpu_memory_bytes`. */
export const processOf = once<GpuProcess>((labels) => {
  const { pid, uuid, gpu = '', process: name, inner_pid: innerPid, container_id: containerId } = labels
  if (pid === undefined || uuid === undefined) return undefined
  return {
    pid: Number(pid),
    uuid,
    gpu,
    ...(innerPid === undefined ? {} : { innerPid: Number(innerPid) }),
    ...(name === undefined ? {} : { name }),
    ...(containerId === undefined ? {} : { containerId }),
    labels,
  }
})
