// Names who holds the GPUs' memory behind the sampling: a turn of the event loop each for one GPU, so that no reading and no request waits for it.
import { createGpuMemoryAttribution, type GpuProcesses } from '../../attribution/gpu-memory.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { IdentifyProcess } from '../../model/identity.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import type { Sample } from '../../sampler/child-handle.ts'
import type { Rate } from '../../sampler/protocol.ts'
import type { KnownGpu } from './registry.ts'

export type OwnersOptions = {
  readonly identify: IdentifyProcess
  /** Whether the agent sees all processes of the host; absent = not known. */
  readonly seesAllProcesses?: boolean
  /** What was found of one GPU, with the time of the sample that listed its processes. `tookMs`: of this process. */
  readonly found: (gpu: KnownGpu, t: number, rate: Rate, readings: readonly Reading[], gaps: readonly Gap[], tookMs: number) => void
  readonly failed: (error: unknown) => void
}
export type Owners = {
  /** Takes the processes of a sample; a newer list of the same GPU takes the place of one that still waits. */
  readonly add: (gpu: KnownGpu, sample: Sample) => void
  /** What waits of this GPU is no longer true. */
  readonly drop: (gpu: KnownGpu) => void
  /** Lets go of what is kept for a GPU that is no longer there. */
  readonly forget: (uuid: string) => void
  readonly stop: () => void
}

const USED = gpuMemoryUsedBytes.name
const UTILIZATION = gpuUtilizationRatio.name

export function createOwners(options: OwnersOptions): Owners {
  const attribution = createGpuMemoryAttribution(options.identify, options)
  /** In the order in which they came; a list that replaces another keeps its place, so that each GPU has its turn however slow this is. */
  const waiting = new Map<KnownGpu, { readonly t: number; readonly rate: Rate; readonly listed: GpuProcesses }>()
  let turn: NodeJS.Immediate | undefined

  const next = (): void => {
    turn = undefined
    const [first] = waiting
    if (first === undefined) return
    const [gpu, { t, rate, listed }] = first
    waiting.delete(gpu)
    // Immediates run behind timers and messages: the ticks and the child's answers that are due by then come before the next GPU.
    if (waiting.size > 0) turn = setImmediate(next)
    const begun = performance.now()
    try {
      const { readings, gaps } = attribution.attribute(listed)
      options.found(gpu, t, rate, readings, gaps, performance.now() - begun)
    } catch (error) {
      options.failed(error)
    }
  }

  return {
    add(gpu, { sample, readings, gaps, t }) {
      if (gpu.uuid === undefined) return
      const unread = sample.processes === undefined ? gaps.find((gap) => gap.metric === processGpuMemoryBytes.name) : undefined
      if (sample.processes === undefined && unread === undefined) return
      const why = unread ?? gaps.find((gap) => gap.metric === USED)
      const { index, uuid, usedBytes } = gpu
      const ratio = readings.find(({ series }) => series.metric.name === UTILIZATION && series.labels['gi'] === undefined)?.value
      const load = { t, ratio, loads: sample.loads }
      const listed = { gpu: String(index), uuid, usedBytes, processes: sample.processes, load, ...(why === undefined ? {} : { gap: why }) }
      waiting.set(gpu, { t, rate: sample.rate, listed })
      turn ??= setImmediate(next)
    },
    drop: (gpu) => void waiting.delete(gpu),
    forget: attribution.forget,
    stop() {
      clearImmediate(turn)
      turn = undefined
      waiting.clear()
    },
  }
}
