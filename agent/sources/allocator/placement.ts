// Which of the host's GPUs a probe's device is. Nothing is guessed: what several GPUs could be is none.
import type { DriverView } from './driver-view.ts'
import type { Hello, HelloDevice } from './messages.ts'
import type { GpuPlace } from './readings.ts'

export type Placed = { readonly place: GpuPlace } | { readonly why: string }

type Holder = { readonly pid: number; readonly containerId: string | undefined }

const found = (place: GpuPlace): Placed => ({ place })

/** A probe names the GPU, and the driver says under which instance of it the process runs. */
function instanceOf(place: GpuPlace, pid: number, view: DriverView): GpuPlace {
  const here = view.holdings(pid).filter(({ uuid, gi }) => uuid === place.uuid && gi !== undefined)
  const [only] = here
  if (only === undefined || here.length > 1) return place
  const { gpu, uuid, gi, ci } = only
  return { gpu, uuid, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }) }
}

/** `GPU-…`, `MIG-…`, the old `MIG-GPU-…/gi/ci`, or bare hex as PyTorch prints it. */
function byUuid(name: string, view: DriverView): GpuPlace | undefined {
  const old = /^MIG-(GPU-[^/]+)\/(\d+)\/(\d+)$/.exec(name)
  if (old?.[1] !== undefined && old[2] !== undefined && old[3] !== undefined) {
    const whole = view.gpu(old[1])
    return whole === undefined ? undefined : { gpu: whole.gpu, uuid: whole.uuid, migUuid: name, gi: old[2], ci: old[3] }
  }
  const place = view.mig(name) ?? view.gpu(name) ?? view.gpu(`GPU-${name}`) ?? view.mig(`MIG-${name}`)
  return place === undefined ? undefined : { ...place }
}

/** The device's name out of CUDA_VISIBLE_DEVICES: what the program counts from zero. undefined: it sees them all, in their order. */
function visibleName(hello: Hello, device: HelloDevice): { readonly name: string } | 'all' | 'none' {
  const visible = device.visible ?? hello.visible ?? hello.env?.['CUDA_VISIBLE_DEVICES'] ?? undefined
  if (visible === undefined) return 'all'
  const name = visible.split(',')[device.i]?.trim()
  return name === undefined || name === '' ? 'none' : { name }
}

export function placeDevice(hello: Hello, device: HelloDevice, { pid, containerId }: Holder, view: DriverView): Placed {
  const held = view.holdings(pid)
  const uuids = [...new Set(held.map(({ uuid }) => uuid))]
  /** The driver's list contradicts: then the probe is wrong about itself, or the list is behind by a moment. */
  const believed = (place: GpuPlace): Placed =>
    uuids.length > 0 && !uuids.includes(place.uuid)
      ? { why: `the probe names GPU ${place.uuid}, the driver lists the process on ${uuids.join(', ')}` }
      : found(place.migUuid === undefined && place.gi === undefined ? instanceOf(place, pid, view) : place)

  const { uuid, pci_bus_id: bus } = device
  if (typeof uuid === 'string' && uuid !== '') {
    const place = byUuid(uuid, view)
    return place === undefined ? { why: `the probe names ${uuid}, which is no GPU of this host` } : believed(place)
  }
  if (typeof bus === 'string' && bus !== '') {
    const place = view.byBus(bus)
    if (place !== undefined) return believed(place)
  }
  const [only] = held
  if (held.length === 1 && only !== undefined && hello.devices.length <= 1) {
    const { gpu, gi, ci } = only
    return found({ gpu, uuid: only.uuid, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }) })
  }
  const chosen = visibleName(hello, device)
  if (chosen === 'none') return { why: `the probe counts a device ${device.i} that CUDA_VISIBLE_DEVICES does not list` }
  if (chosen !== 'all' && !/^\d+$/.test(chosen.name)) {
    const place = byUuid(chosen.name, view)
    if (place !== undefined) return believed(place)
  }
  const index = chosen === 'all' ? device.i : Number(chosen.name)
  const given = containerId === undefined ? [] : view.given(containerId)
  const place = given[index]
  // Two GPUs or more may be counted fastest first (CUDA_DEVICE_ORDER); the driver's list then decides whether it can be true.
  if (place !== undefined) return believed(place)
  return {
    why:
      held.length > 1
        ? `the process holds memory on ${held.length} GPUs or instances, and the probe does not say which of them is device ${device.i}`
        : `the probe does not say which GPU device ${device.i} is, and the driver does not list the process`,
  }
}
