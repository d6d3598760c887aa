// Labels as OpenTelemetry's attributes: hw.* for GPUs, container.*, k8s.* and process.* for who uses them; all others keep their names.
import type { Inventory } from '../../inventory/inventory.ts'
import type { Labels } from '../../model/series.ts'
import type { OtlpName } from './names.ts'

export type AttributeValue = string | number | readonly string[]
export type Attributes = Record<string, AttributeValue>

/** `names`: the attributes' names, for docs/otlp.md. */
type Mapping = { readonly names: string; readonly put: (attributes: Attributes, value: string) => void }
const as = (name: string): Mapping => ({
  names: name,
  put: (attributes, value) => {
    attributes[name] = value
  },
})
const asNumber = (name: string): Mapping => ({
  names: `${name} (a number)`,
  put: (attributes, value) => {
    attributes[name] = /^\d{1,15}$/.test(value) ? Number(value) : value
  },
})
/** The conventions keep the name and the tag of an image apart. */
const image: Mapping = {
  names: 'container.image.name, container.image.tags',
  put(attributes, whole) {
    const [, name = whole, tag] = /^(.+?)(?::([^:/@]+))?(?:@.*)?$/.exec(whole) ?? []
    attributes['container.image.name'] = name
    if (tag !== undefined) attributes['container.image.tags'] = [tag]
  },
}

/** Beside `uuid`, which is `hw.id`; all others keep their names. */
export const BY_LABEL: Readonly<Record<string, Mapping>> = {
  gpu: {
    names: 'hw.name (`GPU 0`)',
    put: (attributes, index) => {
      attributes['hw.name'] = `GPU ${index}`
    },
  },
  container: as('container.name'),
  container_id: as('container.id'),
  image,
  runtime: as('container.runtime.name'),
  namespace: as('k8s.namespace.name'),
  pod: as('k8s.pod.name'),
  pid: asNumber('process.pid'),
  inner_pid: asNumber('process.vpid'),
  process: as('process.executable.name'),
  name: as('hw.model'),
  driver_version: as('hw.driver_version'),
  vbios_version: as('hw.firmware_version'),
  serial: as('hw.serial_number'),
}

/** Of other series they say something else: an inference server's name, and all of its GPUs. */
export const OF_GPUS: ReadonlySet<string> = new Set(['gpu', 'name'])

export type AttributeBook = { readonly of: (labels: Labels, name?: OtlpName) => Attributes }

/** `inventory` identifies a GPU or a MIG instance; without it only its id is sent. */
export function createAttributeBook(inventory?: Pick<Inventory, 'known' | 'knownMig'>): AttributeBook {
  const putGpu = (attributes: Attributes, labels: Labels, hardware: boolean): void => {
    const { uuid, gi, ci } = labels
    if (uuid === undefined || uuid === '') return
    attributes['hw.id'] =
      gi === undefined ? uuid : (inventory?.knownMig(uuid, gi, ci ?? '')?.migUuid ?? [uuid, gi, ci].filter((part) => part !== undefined).join('/'))
    if (gi !== undefined) attributes['hw.parent'] = uuid
    if (!hardware) return
    // What the conventions recommend for each hw.* metric; ours carry the id, by which these can be joined.
    attributes['hw.vendor'] = 'NVIDIA'
    const known = inventory?.known(uuid)?.labels ?? {}
    for (const label of ['name', 'driver_version', 'vbios_version', 'serial']) {
      const value = known[label]
      if (value !== undefined && value !== '') BY_LABEL[label]?.put(attributes, value)
    }
  }

  return {
    of(labels, name) {
      const attributes: Attributes = {}
      const { attributes: fixed, when = {}, labels: renamed = {} } = name?.convention ?? {}
      putGpu(attributes, labels, name?.name.startsWith('hw.') ?? false)
      for (const [label, value] of Object.entries(labels)) {
        if (value === '' || label === 'uuid' || when[label] !== undefined) continue
        const known = OF_GPUS.has(label) && labels['uuid'] === undefined ? undefined : BY_LABEL[label]
        const mapping = renamed[label] === undefined ? (known ?? as(label)) : as(renamed[label])
        mapping.put(attributes, value)
      }
      return Object.assign(attributes, fixed)
    },
  }
}
