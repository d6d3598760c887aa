// One process that a probe speaks for: its devices, what they said last, and the events that follow from it.
import { allocatorReservedBytes } from '../../metrics/process.ts'
import type { AllocatorOom, AllocatorSample, Event } from '../../model/event.ts'
import type { ProcessIdentity } from '../../model/identity.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import type { DriverView } from './driver-view.ts'
import { peaksOf, statsOf, type DeviceSample, type Hello, type Oom, type ProbeException, type Sample } from './messages.ts'
import { placeDevice } from './placement.ts'
import { createAllocatorReadings, type AllocatorReadings, type GpuPlace } from './readings.ts'

export type Probed = {
  readonly pid: number
  readonly startTicks: number
  readonly hello: (hello: Hello) => void
  readonly sample: (message: Sample) => void
  readonly oom: (message: Oom) => void
  readonly exception: (message: ProbeException) => void
  /** Appends the readings of its devices by GPU; those that fell silent are left out. */
  readonly report: (out: (uuid: string) => Reading[], gaps: Gap[], who: ProcessIdentity) => void
  /** OOMs whose GPU was not known yet; gives those up that waited too long, and says how many. */
  readonly retry: () => number
}
export type ProbedOptions = {
  readonly who: () => ProcessIdentity
  readonly pid: number
  readonly startTicks: number
  readonly view: DriverView
  readonly emit: (event: Event) => void
  /** Whether a text may hold a fault, and so is emitted. */
  readonly interesting: (text: string) => boolean
  /** Unix ms, and milliseconds of a clock that only rises. */
  readonly now: () => number
  readonly clock: () => number
}

/** Longer than the pause that a garbage collector or a `cudaFree` under the GIL makes. */
export const FRESH_MS = 3_500
/** A probe samples once a second; more frequent samples are emitted at most twice a second. */
const MIN_GAP_MS = 500
/** The probe's clock is believed when it agrees with ours within so long. */
const CLOCKS_AGREE_MS = 2_000
/** So many messages are kept by a probe and may come again; the numbers below are long taken. */
const NUMBERS_KEPT = 64
const MAX_WAITING_OOMS = 16
const OOM_WAIT_MS = 30_000

type Device = {
  place: GpuPlace | undefined
  why: string
  readings: AllocatorReadings | undefined
  sample: AllocatorSample | undefined
  receivedAt: number
  emittedAt: number
}

const nativeBackend = (backend: string | null | undefined): boolean => backend === undefined || backend === null || backend === 'native'
const backendOf = (backend: string | null | undefined): Pick<AllocatorSample, 'backend'> =>
  backend === undefined || backend === null ? {} : { backend: backend === 'native' || backend === 'cudaMallocAsync' ? backend : 'other' }
const SAME_PLACE = ['gpu', 'uuid', 'gi', 'ci', 'migUuid'] as const
const samePlace = (a: GpuPlace, b: GpuPlace): boolean => SAME_PLACE.every((name) => a[name] === b[name])

export function createProbed(options: ProbedOptions): Probed {
  const { pid, startTicks, view, emit, now, clock } = options
  const devices = new Map<number, Device>()
  const seen = new Set<number>()
  let waiting: { readonly message: Oom; readonly t: number; readonly since: number }[] = []
  let lastHello: Hello | undefined

  const timeOf = (seconds: number): number => {
    const ours = now()
    const theirs = Math.round(seconds * 1_000)
    return Math.abs(ours - theirs) <= CLOCKS_AGREE_MS ? Math.min(ours, theirs) : ours
  }
  const deviceAt = (index: number): Device => {
    let device = devices.get(index)
    if (device === undefined) {
      device = { place: undefined, why: '', readings: undefined, sample: undefined, receivedAt: Number.NEGATIVE_INFINITY, emittedAt: Number.NEGATIVE_INFINITY }
      devices.set(index, device)
    }
    return device
  }
  /** Asked again as long as it is not known. */
  const place = (index: number, device: Device): GpuPlace | undefined => {
    if (device.place !== undefined || lastHello === undefined) return device.place
    const described = lastHello.devices.find(({ i }) => i === index) ?? { i: index }
    const containerId = options.who().container?.id
    const placed = placeDevice(lastHello, described, { pid, containerId }, view)
    if ('why' in placed) {
      device.why = placed.why
      return undefined
    }
    for (const other of devices.values())
      if (other.place !== undefined && samePlace(other.place, placed.place)) {
        device.why = `the probe says of two devices that they are GPU ${placed.place.uuid}`
        return undefined
      }
    device.place = placed.place
    device.readings = createAllocatorReadings(placed.place)
    return placed.place
  }
  const origin = (at: GpuPlace): Pick<AllocatorSample, 'pid' | 'uuid' | 'mig_uuid' | 'container'> => {
    const container = options.who().container?.name
    return { pid, uuid: at.uuid, ...(at.migUuid === undefined ? {} : { mig_uuid: at.migUuid }), ...(container === undefined ? {} : { container }) }
  }
  const onDevice = (index: number, t: number, { stats, limit_bytes: limit }: DeviceSample): void => {
    const device = deviceAt(index)
    const at = clock()
    device.receivedAt = at
    const where = place(index, device)
    if (where === undefined || at - device.emittedAt < MIN_GAP_MS) return
    const native = nativeBackend(lastHello?.backend)
    const expandable = lastHello?.expandable
    const sample: AllocatorSample = {
      type: 'allocator',
      t,
      ...origin(where),
      ...backendOf(lastHello?.backend),
      ...(expandable === undefined || expandable === null ? {} : { expandable }),
      ...(limit === undefined ? {} : { limit_bytes: limit }),
      stats: statsOf(stats, native),
      peaks: peaksOf(stats),
    }
    device.sample = sample
    device.emittedAt = at
    device.readings?.take(sample, view.memory(where, pid))
    emit(sample)
  }
  const tellOom = (message: Oom, t: number): boolean => {
    const device = deviceAt(message.device)
    const where = place(message.device, device)
    if (where === undefined) return false
    const { request_bytes: request, limit_bytes: limit, free_bytes: free, stats, pools } = message
    const event: AllocatorOom = {
      type: 'allocator_oom',
      t,
      ...origin(where),
      request_bytes: request,
      ...(typeof limit === 'number' ? { limit_bytes: limit } : {}),
      ...(typeof free === 'number' ? { free_bytes: free } : {}),
      stats: statsOf(stats, nativeBackend(lastHello?.backend)),
      ...(pools === undefined || pools === null || pools.length === 0 ? {} : { pools }),
    }
    device.readings?.oom(event, device.sample, view.memory(where, pid))
    emit(event)
    return true
  }
  /** Each number counts once, however often it comes. */
  const isNew = (n: number): boolean => {
    if (seen.has(n)) return false
    seen.add(n)
    const oldest = seen.size > NUMBERS_KEPT ? seen.values().next().value : undefined
    if (oldest !== undefined) seen.delete(oldest)
    return true
  }

  return {
    pid,
    startTicks,
    hello(hello) {
      lastHello = hello
      // A device that is described otherwise now is another.
      for (const [index, device] of devices) {
        if (device.place === undefined) continue
        const placed = placeDevice(hello, hello.devices.find(({ i }) => i === index) ?? { i: index }, { pid, containerId: options.who().container?.id }, view)
        if ('place' in placed && !samePlace(placed.place, device.place)) devices.delete(index)
      }
    },
    sample(message) {
      const t = timeOf(message.t)
      for (const index in message.devices) {
        const device = message.devices[index]
        if (device !== undefined) onDevice(Number(index), t, device)
      }
    },
    oom(message) {
      if (!isNew(message.n)) return
      const t = timeOf(message.t)
      if (tellOom(message, t)) return
      if (waiting.length < MAX_WAITING_OOMS) waiting.push({ message, t, since: clock() })
    },
    exception(message) {
      if (!isNew(message.n)) return
      const text = message.text.startsWith(message.name) ? message.text : `${message.name}: ${message.text}`
      if (!options.interesting(text)) return
      const container = options.who().container
      const path = `probe:${pid}`
      emit({
        type: 'log',
        t: timeOf(message.t),
        stream: container === undefined ? 'file' : 'container',
        origin: container === undefined ? { path } : { container: container.name, container_id: container.id.slice(0, 12), path },
        text,
      })
    },
    report(out, gaps, who) {
      const at = clock()
      for (const [index, { place: where, readings, sample, receivedAt, emittedAt, why }] of devices) {
        if (at - receivedAt > FRESH_MS) continue
        if (where === undefined) {
          const labels = {
            pid: String(pid),
            process: who.name,
            ...(who.container === undefined ? {} : { container: who.container.name, container_id: who.container.id.slice(0, 12) }),
          }
          gaps.push({ metric: allocatorReservedBytes.name, labels, reason: 'not_supported', detail: why === '' ? `device ${index} is not placed yet` : why })
        } else if (sample !== undefined && at - emittedAt <= FRESH_MS) {
          readings?.report(out(where.uuid), who, sample, view.memory(where, pid))
        }
      }
    },
    retry() {
      if (waiting.length === 0) return 0
      const at = clock()
      waiting = waiting.filter(({ message, t }) => !tellOom(message, t))
      const kept = waiting.filter(({ since }) => at - since < OOM_WAIT_MS)
      const lost = waiting.length - kept.length
      waiting = kept
      return lost
    },
  }
}
