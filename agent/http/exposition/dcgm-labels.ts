// The label texts of the DCGM_* series: which GPU, MIG instance, host and driver, and who holds it.
// Names and order: dcgm-exporter 4.8.2's render_metrics.go; there the labels of the CSV and then the attributes follow, each in alphabetical order.
import type { Inventory } from '../../inventory/inventory.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { labelPairs, type Labels, type Series } from '../../model/series.ts'
import { ASSIGNED, createHolders, PROCESS_MEMORY, REQUESTED, type HolderOptions } from './holders.ts'

export type Generation = 'classic' | 'current'
export type HostnameLabel = 'Hostname' | 'hostname' | 'both'
/** Labels that dcgm-exporter's CSV can switch on (rows of type `label`). */
export const IDENTITY_LABELS = ['serial', 'name', 'vbios_version', 'minor_number'] as const
export type IdentityLabel = (typeof IDENTITY_LABELS)[number]
export type LabelOptions = {
  readonly inventory: Pick<Inventory, 'gpus' | 'migs'>
  readonly hostnameLabel: HostnameLabel
  readonly hostname: string
  readonly identity: readonly IdentityLabel[]
  readonly holders: HolderOptions
}

export type DcgmLabels = {
  /** Rises whenever a text changed; what was made of texts before is out of date then. */
  readonly version: () => number
  /** Starts a round: what is learned until `end` is what holds now. */
  readonly begin: () => void
  /** Takes in a series that says how a GPU is cut, or who holds it; others are ignored. */
  readonly learn: (series: Series) => void
  readonly learnProcess: (labels: Labels) => void
  readonly end: () => void
  /** Indexes by UUID of the GPUs that are there. */
  readonly gpus: () => ReadonlyMap<string, string>
  /**
   * Label texts of a series of a GPU or MIG instance: one for each holder. A card that is cut into MIG instances has none of its own: what is known of the whole
   * card is on each instance, and what is known of instances (`ofInstances`) on them alone.
   */
  readonly texts: (labels: Labels, generation: Generation, ofInstances: boolean, more?: Labels) => readonly string[]
}

// 4.9.0 renamed the driver's label (release note); the others as DCGM 4.6's dcgm_fields.h renamed their fields. Whether UUID and modelName changed is not known, so they stay.
const DRIVER: Readonly<Record<Generation, string>> = { classic: 'DCGM_FI_DRIVER_VERSION', current: 'DCGM_FI_SYSTEM_DRIVER_VERSION' }
const IDENTITY: Readonly<Record<IdentityLabel, Readonly<Record<Generation | 'from', string>>>> = {
  serial: { from: 'serial', classic: 'DCGM_FI_DEV_SERIAL', current: 'DCGM_FI_DEV_BOARD_SERIAL' },
  name: { from: 'name', classic: 'DCGM_FI_DEV_NAME', current: 'DCGM_FI_DEV_GPU_NAME' },
  vbios_version: { from: 'vbios_version', classic: 'DCGM_FI_DEV_VBIOS_VERSION', current: 'DCGM_FI_DEV_VBIOS_VERSION' },
  minor_number: { from: 'minor', classic: 'DCGM_FI_DEV_MINOR_NUMBER', current: 'DCGM_FI_DEV_GPU_MINOR_NUMBER' },
}
const ATTRIBUTES = ['container', 'err_code', 'err_msg', 'hpc_job', 'namespace', 'pod']
const MORE = ['window_size_in_ms', 'xid']
const USED = gpuMemoryUsedBytes.name

/** `1g.10gb` out of NVML's name of an instance, such as `NVIDIA H100 80GB HBM3 MIG 1g.10gb`. */
const profileOf = ({ profile, name }: Labels): string | undefined => profile ?? /\bMIG (\S+)$/.exec(name ?? '')?.[1]

export function createDcgmLabels({ inventory, hostnameLabel, hostname, identity, holders: holderOptions }: LabelOptions): DcgmLabels {
  const hosts = hostnameLabel === 'both' ? ['Hostname', 'hostname'] : [hostnameLabel]
  const holders = createHolders(holderOptions)
  const infos = new Map<string, Labels>()
  const profiles = new Map<string, string>()
  let instances: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  let cut = new Map<string, Set<string>>()
  let present = new Map<string, string>()
  let texts = new Map<string, readonly string[]>()
  let version = 0
  let changed = false

  const learnGpus = (): void => {
    for (const { uuid, labels } of inventory.gpus()) {
      present.set(uuid, labels['gpu'] ?? '')
      if (infos.get(uuid) === labels) continue
      infos.set(uuid, labels)
      changed = true
    }
    for (const { uuid, gi, labels } of inventory.migs()) {
      learnInstance(uuid, gi)
      const profile = profileOf(labels)
      if (profile === undefined || profiles.get(`${uuid}|${gi}`) === profile) continue
      profiles.set(`${uuid}|${gi}`, profile)
      changed = true
    }
  }
  const learnInstance = (uuid: string, gi: string): void => {
    const found = cut.get(uuid)
    if (found === undefined) cut.set(uuid, new Set([gi]))
    else found.add(gi)
  }
  const sameInstances = (): boolean => {
    if (cut.size !== instances.size) return false
    for (const [uuid, now] of cut) {
      const before = instances.get(uuid)
      if (before === undefined || before.size !== now.size) return false
      for (const gi of now) if (!before.has(gi)) return false
    }
    return true
  }

  /** Texts of one GPU or instance, one a holder. */
  const textsAt = (gpu: string, uuid: string, gi: string, generation: Generation, more: Labels | undefined): readonly string[] => {
    const info = infos.get(uuid) ?? {}
    const values: Record<string, string> = {
      ...more,
      gpu,
      UUID: uuid,
      pci_bus_id: info['pci_bus_id'] ?? '',
      device: gpu === '' ? '' : `nvidia${gpu}`,
      modelName: info['name'] ?? '',
      GPU_I_PROFILE: gi === '' ? '' : (profiles.get(`${uuid}|${gi}`) ?? ''),
      GPU_I_ID: gi,
      [DRIVER[generation]]: info['driver_version'] ?? '',
    }
    for (const host of hosts) values[host] = hostname
    for (const label of identity) values[IDENTITY[label][generation]] = info[IDENTITY[label].from] ?? ''
    const rows = [DRIVER[generation], ...identity.map((label) => IDENTITY[label][generation])].sort()
    const order = ['gpu', 'UUID', 'pci_bus_id', 'device', 'modelName', 'GPU_I_PROFILE', 'GPU_I_ID', ...hosts, ...rows, ...MORE, ...ATTRIBUTES]
    return holders.of(uuid, gi, gpu).map((holder) => labelPairs(order, { ...values, ...holder }))
  }
  const placesOf = (uuid: string, gi: string, ofInstances: boolean): readonly string[] => {
    const cutInto = instances.get(uuid)
    if (gi !== '' || cutInto === undefined) return [gi]
    return ofInstances ? [] : [...cutInto].sort((a, b) => Number(a) - Number(b))
  }

  return {
    version: () => version,
    begin() {
      cut = new Map()
      present = new Map()
      holders.begin()
      learnGpus()
    },
    learn(series) {
      const { name } = series.metric
      if (name === USED) {
        const { uuid, gi } = series.labels
        if (uuid !== undefined && gi !== undefined) learnInstance(uuid, gi)
      } else if (name === PROCESS_MEMORY || name === REQUESTED || name === ASSIGNED) holders.see(series)
    },
    learnProcess: (labels) => holders.seeProcess(labels),
    end() {
      if (!sameInstances()) {
        instances = cut
        changed = true
      }
      if (holders.end(present.size, (uuid) => instances.has(uuid))) changed = true
      if (!changed) return
      changed = false
      version += 1
      texts = new Map()
    },
    gpus: () => present,
    texts(labels, generation, ofInstances, more) {
      const { gpu = '', uuid = '', gi = '' } = labels
      if (more !== undefined) return placesOf(uuid, gi, ofInstances).flatMap((place) => textsAt(gpu, uuid, place, generation, more))
      const cacheKey = `${generation}|${uuid}|${gpu}|${gi}|${ofInstances}`
      let found = texts.get(cacheKey)
      if (found === undefined) {
        found = placesOf(uuid, gi, ofInstances).flatMap((place) => textsAt(gpu, uuid, place, generation, undefined))
        texts.set(cacheKey, found)
      }
      return found
    },
  }
}
