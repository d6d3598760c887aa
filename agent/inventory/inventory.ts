// The host's GPUs, MIG instances, containers and processes as of the newest readings: derived once, used by every consumer.
import { containerGpuRequested, containerInfo } from '../metrics/container.ts'
import { gpuInfo } from '../metrics/gpu-identity.ts'
import { gpuMigInfo } from '../metrics/mig.ts'
import { processGpuMemoryBytes } from '../metrics/process.ts'
import type { Reading } from '../model/reading.ts'
import type { Series } from '../model/series.ts'
import { busKey } from './bus.ts'
import { containerOf, gpuOf, migOf, processOf, type Gpu, type GpuProcess, type HostContainer, type MigInstance } from './identity.ts'

/** `mig`: UUIDs of its MIG devices; `source`: which source reports it. */
export type HostGpu = Gpu & { readonly mig: readonly string[]; readonly source: string }
/** What a process holds: `bytes` at `t`, Unix ms, as the source `source` reported it. */
export type Holding = GpuProcess & { readonly bytes: number; readonly t: number; readonly source: string }
/** A GPU that a container asked for or was given; `by` says how (`device_nodes`, `privileged`, …). */
export type GivenGpu = { readonly uuid: string; readonly index: number; readonly by: string | undefined; readonly series: Series }
/** `pid`: host pid of its first process, while it runs. */
export type Container = HostContainer & { readonly given: readonly GivenGpu[]; readonly pid?: string }

export type Inventory = {
  /** By index. A GPU that no source reports now is absent. */
  readonly gpus: () => readonly HostGpu[]
  readonly byUuid: (uuid: string) => HostGpu | undefined
  /** Any spelling of a PCI address. */
  readonly byBus: (address: string) => HostGpu | undefined
  readonly byIndex: (index: number) => HostGpu | undefined
  /** The same, also when no source reports it any more: a lost GPU is the same GPU. */
  readonly known: (uuid: string) => Gpu | undefined
  readonly migs: () => readonly MigInstance[]
  /** By the numbers of its instance, also when no source reports it any more; `ci` is empty for a GPU instance without a compute instance. */
  readonly knownMig: (uuid: string, gi: string, ci: string) => MigInstance | undefined
  readonly migByUuid: (migUuid: string) => MigInstance | undefined
  /** That run, or of which the GPUs that they were given are known. */
  readonly containers: () => Iterable<Container>
  /** By its whole id or the first 12 digits of it. */
  readonly container: (id: string) => Container | undefined
  readonly processes: () => readonly Holding[]
  readonly processesOn: (uuid: string) => readonly Holding[]
  /** All that one process holds: it may use several GPUs. */
  readonly holdings: (pid: number) => readonly Holding[]
}

/** The newest readings of one source, such as a group of the latest store or a scrape. */
export type SourceReadings = { readonly source: string; readonly t: number; readonly readings: readonly Reading[] }
export type InventoryInput = {
  /** What holds now. An object that was given before has not changed. */
  readonly groups: () => Iterable<SourceReadings>
  /** Rises whenever `groups` may give something else. */
  readonly version: () => number
}

type Role = 'gpu' | 'mig' | 'container' | 'given' | 'process'
const ROLES: ReadonlyMap<string, Role> = new Map([
  [gpuInfo.name, 'gpu'],
  [gpuMigInfo.name, 'mig'],
  [containerInfo.name, 'container'],
  [containerGpuRequested.name, 'given'],
  [processGpuMemoryBytes.name, 'process'],
])
type Part = { readonly from: SourceReadings; seen: number; readonly readings: Readonly<Record<Role, readonly Reading[]>> }
const NONE: readonly never[] = []
const EMPTY: Part['readings'] = { gpu: NONE, mig: NONE, container: NONE, given: NONE, process: NONE }

function readingsOf({ readings }: SourceReadings): Part['readings'] {
  let found: Record<Role, Reading[]> | undefined
  for (let at = 0; at < readings.length; at++) {
    const reading = readings[at]
    if (reading === undefined) continue
    const role = ROLES.get(reading.series.metric.name)
    if (role === undefined) continue
    found ??= { gpu: [], mig: [], container: [], given: [], process: [] }
    found[role].push(reading)
  }
  return found ?? EMPTY
}

/** Whether both report the same of the same things. */
const same = (a: readonly Reading[], b: readonly Reading[]): boolean =>
  a.length === b.length && a.every(({ series, value }, at) => series === b[at]?.series && value === b[at].value)

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** More than any host has: what comes and goes must not pile up. */
const MOST_REMEMBERED = 1_024
function remember<T>(things: Map<string, T>, key: string, thing: T): void {
  things.delete(key)
  if (things.size >= MOST_REMEMBERED) for (const oldest of things.keys()) if (things.delete(oldest)) break
  things.set(key, thing)
}
const migKey = (uuid: string, gi: string, ci: string): string => `${uuid}|${gi}|${ci}`

/** Who is in these readings, which do not change. */
export const inventoryOf = (readings: readonly Reading[]): Inventory => {
  const from = [{ source: '', t: 0, readings }]
  return createInventory({ groups: () => from, version: () => 0 })
}

/** Asked often and changed rarely: a new group is read once, and an index is rebuilt only when what it is made of has changed. */
export function createInventory({ groups, version }: InventoryInput): Inventory {
  const parts = new Map<SourceReadings, Part>()
  let seen = -1
  let round = 0
  const stale: Record<Role, boolean> = { gpu: true, mig: true, container: true, given: true, process: true }
  let cards: {
    readonly list: readonly HostGpu[]
    readonly byUuid: Map<string, HostGpu>
    readonly migs: readonly MigInstance[]
    readonly migByUuid: Map<string, MigInstance>
  }
  const known = new Map<string, Gpu>()
  const knownMigs = new Map<string, MigInstance>()
  let boxes = new Map<string, Container>()
  let holders: { readonly list: readonly Holding[]; readonly byUuid: Map<string, Holding[]>; readonly byPid: Map<number, Holding[]> }

  const sync = (): void => {
    const now = version()
    if (now === seen) return
    seen = now
    round++
    const came: Part[] = []
    const gone: Part[] = []
    for (const from of groups()) {
      let part = parts.get(from)
      if (part === undefined) {
        parts.set(from, (part = { from, seen: round, readings: readingsOf(from) }))
        if (part.readings !== EMPTY) came.push(part)
      }
      part.seen = round
    }
    parts.forEach((part) => {
      if (part.seen === round) return
      parts.delete(part.from)
      if (part.readings !== EMPTY) gone.push(part)
    })
    if (came.length === 0 && gone.length === 0) return
    for (const role of ['gpu', 'mig', 'container', 'given', 'process'] as const) {
      // The time of a holding counts too, so processes are always new.
      const before = gone.flatMap(({ readings }) => readings[role])
      const after = came.flatMap(({ readings }) => readings[role])
      if (role === 'process' ? before.length + after.length > 0 : !same(before, after)) stale[role] = true
    }
  }
  /** Older words first, so that of two about the same thing the newer one stays. */
  const all = function* (role: Role): Iterable<{ readonly reading: Reading; readonly from: SourceReadings }> {
    const reporting = [...parts.values()].filter(({ readings }) => readings[role].length > 0).sort((a, b) => a.from.t - b.from.t)
    for (const { from, readings } of reporting) for (const reading of readings[role]) yield { reading, from }
  }

  const gpuIndex = (): typeof cards => {
    sync()
    if (!stale.gpu && !stale.mig) return cards
    stale.gpu = stale.mig = false
    const migByUuid = new Map<string, MigInstance>()
    const ofGpu = new Map<string, string[]>()
    const now = new Map<string, MigInstance>()
    for (const { reading } of all('mig')) {
      const mig = migOf(reading.series)
      if (mig === undefined) continue
      remember(knownMigs, migKey(mig.uuid, mig.gi, mig.ci), mig)
      now.set(migKey(mig.uuid, mig.gi, mig.ci), mig)
    }
    for (const mig of now.values()) {
      if (mig.migUuid === undefined) continue
      push(ofGpu, mig.uuid, mig.migUuid)
      migByUuid.set(mig.migUuid, mig)
    }
    const byUuid = new Map<string, HostGpu>()
    for (const { reading, from } of all('gpu')) {
      const gpu = gpuOf(reading.series)
      if (gpu === undefined) continue
      remember(known, gpu.uuid, gpu)
      byUuid.set(gpu.uuid, { ...gpu, mig: ofGpu.get(gpu.uuid) ?? NONE, source: from.source })
    }
    return (cards = { list: [...byUuid.values()].sort((a, b) => a.index - b.index), byUuid, migs: [...now.values()], migByUuid })
  }
  const containerIndex = (): typeof boxes => {
    sync()
    if (!stale.container && !stale.given) return boxes
    stale.container = stale.given = false
    boxes = new Map()
    const given = new Map<string, GivenGpu[]>()
    const of = (series: Series): Container | undefined => {
      const who = containerOf(series)
      return who === undefined ? undefined : { ...who, given: NONE }
    }
    for (const { reading } of all('given')) {
      const { series, value } = reading
      const { uuid, gpu, by, container_id: id } = series.labels
      const container = of(series)
      if (id === undefined || container === undefined || uuid === undefined || value !== 1) continue
      boxes.set(id, container)
      push(given, id, { uuid, index: Number(gpu), by, series })
    }
    for (const { reading } of all('container')) {
      const container = of(reading.series)
      const { pid } = reading.series.labels
      if (container !== undefined) boxes.set(container.id, { ...container, ...(pid === undefined ? {} : { pid }) })
    }
    for (const [id, list] of given) {
      const container = boxes.get(id)
      if (container !== undefined) boxes.set(id, { ...container, given: list.sort((a, b) => a.index - b.index) })
    }
    return boxes
  }
  const processIndex = (): typeof holders => {
    sync()
    if (!stale.process) return holders
    stale.process = false
    const list: Holding[] = []
    const byUuid = new Map<string, Holding[]>()
    const byPid = new Map<number, Holding[]>()
    for (const { reading, from } of all('process')) {
      const process = processOf(reading.series)
      if (process === undefined) continue
      const holding = { ...process, bytes: reading.value, t: from.t, source: from.source }
      list.push(holding)
      push(byUuid, holding.uuid, holding)
      push(byPid, holding.pid, holding)
    }
    return (holders = { list, byUuid, byPid })
  }

  return {
    gpus: () => gpuIndex().list,
    byUuid: (uuid) => gpuIndex().byUuid.get(uuid),
    byBus(address) {
      const key = busKey(address)
      return key === undefined ? undefined : gpuIndex().list.find(({ bus }) => bus === key)
    },
    byIndex: (wanted) => gpuIndex().list.find(({ index }) => index === wanted),
    known: (uuid) => gpuIndex().byUuid.get(uuid) ?? known.get(uuid),
    migs: () => gpuIndex().migs,
    knownMig: (uuid, gi, ci) => {
      gpuIndex()
      return knownMigs.get(migKey(uuid, gi, ci))
    },
    migByUuid: (migUuid) => gpuIndex().migByUuid.get(migUuid),
    containers: () => containerIndex().values(),
    container: (id) => containerIndex().get(id.slice(0, 12)),
    processes: () => processIndex().list,
    processesOn: (uuid) => processIndex().byUuid.get(uuid) ?? NONE,
    holdings: (pid) => processIndex().byPid.get(pid) ?? NONE,
  }
}
