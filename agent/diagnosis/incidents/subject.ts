// Whom a fault hit: container, GPU, process, by what the text says and what the readings know.
import type { Fault } from '../../model/fault.ts'
import type { IncidentSubject, ContainerSettings } from '../../model/incident.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import type { KnownContainer, KnownGpu, KnownProcess, HostIdentityIndex } from './host-identity-index.ts'

export type Place = {
  readonly t: number
  /** kernel: pids of the text are the host's. */
  readonly stream: 'container' | 'kernel' | 'file' | 'numbers'
  readonly container?: string
  readonly containerId?: string
  readonly path?: string
  readonly uuid?: string
}

export type Resolved = {
  readonly subject: IncidentSubject
  /** What faults of one crash have in common, such as `container trainer`; undefined when only the host is known. */
  readonly crashKey: string | undefined
  /** GPUs that it can be about: the subject's, or all of its container. */
  readonly gpus: readonly string[]
}

/** Faults that are about no GPU, though their container may hold one. */
const NO_GPU: ReadonlySet<string> = new Set([
  'host_oom_kill',
  'shm_exhausted',
  'disk_full',
  'hub_rate_limited',
  'cache_permission',
  'cuda_library_missing',
  'bitsandbytes_setup',
  'nvml_driver_mismatch',
  'cuda_version_mismatch',
  'gpu_not_visible',
  // These name their GPU where they have one.
  'target_down',
  'custom',
])

export type SubjectOptions = {
  readonly identities: HostIdentityIndex
  readonly hostname: string
  /** What the engine said of a container's settings. */
  readonly settingsOf: (containerId: string) => ContainerSettings | undefined
}

export function createSubjects({ identities, hostname, settingsOf }: SubjectOptions) {
  const containerOf = (fault: Fault<IncidentKind>, place: Place, processes: readonly KnownProcess[]): KnownContainer | undefined => {
    if (place.containerId !== undefined) {
      const known = identities.container(place.containerId)
      return { ...known, id: place.containerId.slice(0, 12), name: known?.name ?? place.container ?? place.containerId.slice(0, 12) }
    }
    if (place.container !== undefined) return identities.containerNamed(place.container) ?? { id: '', name: place.container }
    const { pid } = fault.facts
    if (pid === undefined || place.stream === 'container') return undefined
    const owner = processes.find((process) => process.pid === pid)?.containerId
    return owner === undefined ? undefined : identities.container(owner)
  }

  const processOf = (fault: Fault<IncidentKind>, place: Place, mine: readonly KnownProcess[]): KnownProcess | undefined => {
    const { pid } = fault.facts
    if (pid === undefined) return undefined
    // Inside a container a program knows itself by its inner pid; with --pid=host that is the host's.
    const inner = place.stream === 'kernel' ? undefined : mine.find((process) => process.innerPid === pid)
    return inner ?? mine.find((process) => process.pid === pid)
  }

  /** GPUs that the program can see, in its own numbering; undefined when nobody said. */
  const visible = (containerId: string): readonly string[] | undefined => {
    const given = identities.requested(containerId) ?? settingsOf(containerId)?.gpus
    if (given === undefined || given.length === 0) return undefined
    const filter = settingsOf(containerId)?.env?.['CUDA_VISIBLE_DEVICES']
    if (filter === undefined || !/^\d+(,\d+)*$/.test(filter)) return given
    const chosen = filter.split(',').map((index) => given[Number(index)])
    return chosen.every((uuid) => uuid !== undefined) ? chosen : given
  }

  const gpuOf = (
    fault: Fault<IncidentKind>,
    place: Place,
    container: KnownContainer | undefined,
    process: KnownProcess | undefined,
    mine: readonly KnownProcess[],
  ): KnownGpu | undefined => {
    const { pci_bus_id: bus, gpu_index: index } = fault.facts
    const byUuid = (uuid: string | undefined): KnownGpu | undefined => (uuid === undefined ? undefined : (identities.gpuByUuid(uuid) ?? nameless(uuid, mine)))
    if (place.uuid !== undefined) return byUuid(place.uuid)
    if (bus !== undefined) return identities.gpuByBus(bus)
    if (NO_GPU.has(fault.kind)) return undefined
    const held = [...new Set((container === undefined ? [] : mine).map(({ uuid }) => uuid))]
    if (container !== undefined) {
      const seen = visible(container.id)
      if (index !== undefined && seen?.[index] !== undefined) return byUuid(seen[index])
      if (seen?.length === 1) return byUuid(seen[0])
      // It may see more than it uses; where it uses one alone that is the one, unless the text counts further.
      if (held.length === 1 && (index ?? 0) === 0) return byUuid(held[0])
    }
    return process === undefined ? undefined : byUuid(process.uuid)
  }

  return (fault: Fault<IncidentKind>, place: Place): Resolved => {
    const processes = identities.processes(place.t)
    const container = containerOf(fault, place, processes)
    const mine = container === undefined ? (place.stream === 'container' ? [] : processes) : processes.filter(({ containerId }) => containerId === container.id)
    const process = processOf(fault, place, mine)
    const gpu = gpuOf(fault, place, container, process, mine)
    const onGpu = gpu === undefined ? [] : mine.filter(({ uuid }) => uuid === gpu.uuid)
    const who = process ?? (container !== undefined && onGpu.length === 1 && !NO_GPU.has(fault.kind) ? onGpu[0] : undefined)
    const { gpu_index: index, pci_bus_id: bus, pid, process: comm } = fault.facts
    const subject: IncidentSubject = {
      ...(gpu !== undefined
        ? {
            gpu: { index: gpu.index, uuid: gpu.uuid, ...(gpu.name === undefined ? {} : { name: gpu.name }), ...(bus === undefined ? {} : { pci_bus_id: bus }) },
          }
        : index !== undefined || bus !== undefined
          ? { gpu: { ...(index === undefined ? {} : { index }), ...(bus === undefined ? {} : { pci_bus_id: bus }) } }
          : {}),
      ...(container === undefined ? {} : { container: tidy(container) }),
      ...(who !== undefined
        ? {
            process: {
              pid: who.pid,
              ...(who.innerPid === undefined ? {} : { inner_pid: who.innerPid }),
              ...(who.name === undefined ? {} : { name: who.name }),
            },
          }
        : pid !== undefined
          ? { process: { pid, ...(comm === undefined ? {} : { name: comm }) } }
          : {}),
    }
    const held = NO_GPU.has(fault.kind) || container === undefined ? [] : [...new Set([...mine.map(({ uuid }) => uuid), ...(visible(container.id) ?? [])])]
    return {
      subject: Object.keys(subject).length === 0 ? { host: { name: hostname } } : subject,
      crashKey: container !== undefined ? crashKeyOf(tidy(container)) : place.path === undefined ? undefined : `file ${place.path}`,
      gpus: gpu === undefined ? held : [gpu.uuid],
    }
  }
}

/** What the crashes of a container have in common: its id, but one name over the restarts of a pod's container, whose id changes. */
export function crashKeyOf({ id, name, namespace, pod }: NonNullable<IncidentSubject['container']>): string {
  return `container ${pod === undefined ? (id ?? name) : `${namespace ?? ''}/${pod}/${name}`}`
}

function tidy({ id, name, image, namespace, pod }: KnownContainer): NonNullable<IncidentSubject['container']> {
  return {
    name,
    ...(id === '' ? {} : { id }),
    ...(image === undefined ? {} : { image }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(pod === undefined ? {} : { pod }),
  }
}

/** A GPU of which only its processes have told so far. */
function nameless(uuid: string, processes: readonly KnownProcess[]): KnownGpu {
  const index = Number(processes.find((process) => process.uuid === uuid)?.gpu ?? Number.NaN)
  return { index: Number.isInteger(index) ? index : -1, uuid }
}
