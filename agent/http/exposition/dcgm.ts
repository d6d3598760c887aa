// The names of dcgm-exporter beside our own, so that existing dashboards and rules go on working.
// Names, labels and their order: dcgm-exporter 4.8.2 (classic) and the 4.9.0 release notes; label names as in its render_metrics.go.
import type { DcgmName } from '../../model/metric.ts'
import { labelPairs, type Labels, type Series } from '../../model/series.ts'

export type DcgmMode = 'classic' | '4.9' | 'both' | 'off'
export type HostnameLabel = 'Hostname' | 'hostname' | 'both'
export type DcgmOptions = { readonly mode: DcgmMode; readonly hostnameLabel: HostnameLabel; readonly hostname: string }
export type Generation = 'classic' | 'current'

export type Alias = { readonly name: DcgmName; readonly key: string }

export type DcgmNames = {
  /** Rises whenever a label text changed; aliases made before are out of date then. */
  readonly version: () => number
  /** Learns model, bus id, driver and MIG profiles from an info series. */
  readonly learn: (series: Series) => void
  readonly aliasesOf: (series: Series) => readonly Alias[]
  /** Label text of a whole GPU in each generation that is switched on. */
  readonly gpuLabels: (labels: Labels) => readonly { readonly generation: Generation; readonly text: string }[]
}

const GENERATIONS: Readonly<Record<DcgmMode, readonly Generation[]>> = { classic: ['classic'], '4.9': ['current'], both: ['classic', 'current'], off: [] }
// 4.9.0 renamed the driver's label (release note); whether UUID and modelName changed is not known, so they stay.
const DRIVER_LABEL: Readonly<Record<Generation, string>> = { classic: 'DCGM_FI_DRIVER_VERSION', current: 'DCGM_FI_SYSTEM_DRIVER_VERSION' }
const MIB = 1_048_576

export function createDcgmNames({ mode, hostnameLabel, hostname }: DcgmOptions): DcgmNames {
  const generations = GENERATIONS[mode]
  const hosts = hostnameLabel === 'both' ? ['Hostname', 'hostname'] : [hostnameLabel]
  const gpus = new Map<string, Labels>()
  const profiles = new Map<string, string>()
  const known = new WeakSet<Series>()
  const texts = new Map<string, string>()
  let version = 0

  const learned = (): void => {
    version += 1
    texts.clear()
  }
  const labelText = (labels: Labels, generation: Generation): string => {
    const { gpu = '', uuid = '', gi = '' } = labels
    const cacheKey = `${generation}|${uuid}|${gpu}|${gi}`
    let text = texts.get(cacheKey)
    if (text === undefined) {
      const info = gpus.get(uuid) ?? {}
      const values: Record<string, string> = {
        gpu,
        UUID: uuid,
        pci_bus_id: info['pci_bus_id'] ?? '',
        device: gpu === '' ? '' : `nvidia${gpu}`,
        modelName: info['name'] ?? '',
        GPU_I_PROFILE: gi === '' ? '' : (profiles.get(`${uuid}|${gi}`) ?? ''),
        GPU_I_ID: gi,
        [DRIVER_LABEL[generation]]: info['driver_version'] ?? '',
      }
      for (const host of hosts) values[host] = hostname
      const order = ['gpu', 'UUID', 'pci_bus_id', 'device', 'modelName', 'GPU_I_PROFILE', 'GPU_I_ID', ...hosts, DRIVER_LABEL[generation]]
      text = labelPairs(order, values)
      texts.set(cacheKey, text)
    }
    return text
  }

  return {
    version: () => version,
    learn(series) {
      if (known.has(series)) return
      known.add(series)
      const { uuid, gi } = series.labels
      if (uuid === undefined) return
      const profile = gi === undefined ? undefined : profileOf(series.labels)
      if (profile !== undefined) {
        if (profiles.get(`${uuid}|${gi}`) === profile) return
        profiles.set(`${uuid}|${gi}`, profile)
        learned()
      } else if (series.metric.name === 'warpwatch_gpu_info') {
        gpus.set(uuid, series.labels)
        learned()
      }
    },
    aliasesOf(series) {
      const { dcgm } = series.metric
      if (dcgm === undefined || series.labels['uuid'] === undefined) return []
      const found: Alias[] = []
      for (const generation of generations) {
        for (const name of dcgm[generation] ?? []) {
          if (isXidName(name.name)) continue // made by xid.ts
          if (matches(name.when, series.labels)) found.push({ name, key: `${name.name}{${labelText(series.labels, generation)}}` })
        }
      }
      return found
    },
    gpuLabels: (labels) => generations.map((generation) => ({ generation, text: labelText(labels, generation) })),
  }
}

/** `1g.10gb` out of NVML's name of an instance, such as `NVIDIA H100 80GB HBM3 MIG 1g.10gb`. */
const profileOf = ({ profile, name }: Labels): string | undefined => profile ?? /\bMIG (\S+)$/.exec(name ?? '')?.[1]

/** The message in these names' labels depends on the value. */
export const XID_NAMES: Readonly<Record<Generation, string>> = { classic: 'DCGM_FI_DEV_XID_ERRORS', current: 'DCGM_FI_DEV_XID_ERROR' }
const isXidName = (name: string): boolean => name === XID_NAMES.classic || name === XID_NAMES.current

function matches(when: Labels | undefined, labels: Labels): boolean {
  for (const label in when) if (labels[label] !== when[label]) return false
  return true
}

/** The value in the other name's unit, without the dirt of binary fractions; MiB are whole ones, as DCGM's integers are. */
export function scaled(value: number, scale: number): number {
  if (scale === 1) return value
  if (scale === 1 / MIB) return Math.floor(value * scale)
  const product = value * scale
  return Number.isInteger(product) ? product : Number(product.toPrecision(12))
}
