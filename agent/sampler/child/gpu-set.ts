// All GPUs of the child: enumerates them, walks them in order, notices those that come, go, or are lost, and starts NVML again when that helps.
import { readdirSync } from 'node:fs'
import { SUCCESS, failureOf } from '../../nvml/codes.ts'
import type { Failure } from '../../nvml/codes.ts'
import type { XidWatch } from '../../nvml/events.ts'
import type { Session } from '../../nvml/session.ts'
import type { FromChild, GpuSample, Hello, ScrapeRequest, StartRequest } from '../protocol.ts'
import { createGpuSampler } from './gpu-sampler.ts'
import type { GpuSampler } from './gpu-sampler.ts'
import { createSeriesIds } from './series-ids.ts'

const DEFAULT_REINIT_MS = 10_000

/** GPUs that the kernel driver has bound, undefined where it does not say (WSL2): NVML itself may not count a new one before its next start. */
function boundGpus(): number | undefined {
  try {
    return readdirSync('/proc/driver/nvidia/gpus').length
  } catch {
    return undefined
  }
}

type Xid = NonNullable<GpuSample['xids']>[number]
export type GpuSet = {
  /** Starts NVML and says hello; the failure when that is impossible. */
  readonly start: () => Failure | undefined
  readonly scrape: (request: ScrapeRequest) => Failure | undefined
  readonly peak: () => void
  /** Without a GPU nothing is sampled between the readings. */
  readonly hasGpus: () => boolean
}

export function createGpuSet(session: Session, request: StartRequest, send: (message: FromChild) => void): GpuSet {
  const ids = createSeriesIds()
  const pending = new Map<number, Xid[]>()
  let gpus: readonly GpuSampler[] = []
  let lost: Hello['lost'] = []
  let counted = 0
  let bound: number | undefined
  let watch: XidWatch | undefined
  let startedAt = 0
  let wanted = false

  const touched = (index: number): boolean => !request.leaveOut.includes(index) && (request.only === undefined || request.only === index)

  const enumerate = (): Failure | undefined => {
    const count = session.count()
    if (count.code !== SUCCESS) return failureOf('nvmlDeviceGetCount_v2', count.code)
    counted = count.count
    bound = boundGpus()
    const found: GpuSampler[] = []
    const missing: Hello['lost'][number][] = []
    for (let index = 0; index < counted; index++) {
      if (!touched(index)) continue
      const opened = session.open(index)
      if ('device' in opened) found.push(createGpuSampler(opened, ids))
      else missing.push({ index, ...opened })
    }
    gpus = found
    lost = missing
    watch = session.watch(gpus.map((gpu) => gpu.opened))
    return undefined
  }
  const hello = (): void => {
    const summaries = gpus.map(({ opened: { device } }) => {
      const xidGap = watch?.failure(device.index)
      const { index, uuid, name, pciBusId, computeCapability } = device
      return { index, uuid, name, pciBusId, ...(computeCapability === undefined ? {} : { computeCapability }), ...(xidGap === undefined ? {} : { xidGap }) }
    })
    const missing = session.missing.length === 0 ? {} : { missing: session.missing }
    send({
      type: 'hello',
      driverVersion: session.driverVersion(),
      library: session.library,
      ...missing,
      gpus: summaries,
      lost,
    })
  }
  const start = (): Failure | undefined => {
    startedAt = performance.now()
    const code = session.start()
    if (code !== SUCCESS) return failureOf('nvmlInit_v2', code)
    const failure = enumerate()
    if (failure === undefined) hello()
    return failure
  }
  const restart = (): Failure | undefined => {
    wanted = false
    watch?.close()
    session.stop()
    return start()
  }
  const mayRestart = (): boolean => performance.now() - startedAt >= (request.reinitMs ?? DEFAULT_REINIT_MS)

  const sendSample = (gpu: GpuSampler, rate: GpuSample['rate'], id: number): void => {
    const before = gpu.state()
    const sample = gpu.sample(rate, id)
    const after = gpu.state()
    // Lost, or back: handles are only good again after a new start.
    if (before !== undefined && after !== before) wanted = true
    const fresh = ids.fresh()
    if (fresh !== undefined) send({ type: 'series', series: fresh })
    const xids = pending.get(sample.index)
    if (xids !== undefined) pending.delete(sample.index)
    send(xids === undefined ? sample : { ...sample, xids })
  }
  /** The slow look at the set of GPUs: cheap calls that show whether a new enumeration would find another one. */
  const changed = (): boolean => {
    const count = session.count()
    return wanted || boundGpus() !== bound || count.code !== SUCCESS || count.count !== counted || lost.some(({ index }) => session.probe(index) === SUCCESS)
  }
  const refreshMig = (): void => {
    gpus = gpus.map((gpu) => {
      if (!gpu.migChanged()) return gpu
      const opened = session.open(gpu.opened.device.index)
      return 'device' in opened ? createGpuSampler(opened, ids) : gpu
    })
  }

  return {
    start,
    scrape({ id, rates }) {
      watch?.poll(({ index, ...xid }) => pending.set(index, [...(pending.get(index) ?? []), xid]))
      if (rates.includes('slow')) {
        if (mayRestart() && changed()) {
          // What a GPU reported before it fell off the bus is sent with its last sample.
          for (const gpu of gpus) if (gpu.state() === 'gone' && pending.has(gpu.opened.device.index)) sendSample(gpu, 'fast', id)
          const failure = restart()
          if (failure !== undefined) return failure
        } else refreshMig()
      }
      for (const gpu of gpus) {
        for (const rate of rates) {
          sendSample(gpu, rate, id)
          if (gpu.state() === 'gone') break
        }
      }
      if (gpus.some((gpu) => gpu.driverGone()) && mayRestart()) {
        const failure = restart()
        if (failure !== undefined) return failure
      }
      send({ type: 'done', id })
      return undefined
    },
    peak() {
      const now = performance.now()
      for (const gpu of gpus) gpu.peak(now)
    },
    hasGpus: () => gpus.length > 0,
  }
}
