// The GPU registry: which GPUs the agent knows, which are sampled, which are in trouble and why, and how old their newest reading is.
import { gpuSampleAgeSeconds } from '../../metrics/gpu-identity.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../../model/series.ts'
import type { Hello } from '../../sampler/protocol.ts'

export type KnownGpu = {
  readonly index: number
  /** Unknown for one that hung or was lost before its UUID was read. */
  readonly uuid: string | undefined
  /** What its groups are named by. */
  readonly key: string
  readonly labels: Labels
  readonly age: Series | undefined
  /** performance.now() of the newest reading, or of the moment when it was first seen. */
  seenAt: number
  /** Why it is not sampled now. */
  gap: Gap | undefined
  lost: boolean
  usedBytes: number | undefined
  /** Groups that it has spoken in, to be emptied when it falls silent. */
  readonly groups: Set<string>
}

export type GpuRegistry = {
  /** Takes in what a child found. Answers those that NVML no longer lists; they are forgotten. */
  readonly hello: (hello: Hello, leftOut: readonly number[]) => { readonly vanished: readonly KnownGpu[]; readonly lost: readonly KnownGpu[] }
  readonly find: (index: number) => KnownGpu | undefined
  /** Made, without a UUID, when nothing is known of it yet. */
  readonly at: (index: number) => KnownGpu
  /** The GPU of a sample; made when a probe sees one that no hello named. */
  readonly sampled: (index: number, uuid: string) => KnownGpu
  readonly all: () => Iterable<KnownGpu>
  readonly ages: (now: number) => readonly Reading[]
}

export function createGpuRegistry(now: () => number): GpuRegistry {
  const gpus = new Map<number, KnownGpu>()
  const make = (index: number, uuid: string | undefined): KnownGpu => {
    const labels: Labels = uuid === undefined ? { gpu: String(index) } : { gpu: String(index), uuid }
    const gpu: KnownGpu = {
      index,
      uuid,
      key: uuid ?? `gpu-${index}`,
      labels,
      age: uuid === undefined ? undefined : makeSeries(gpuSampleAgeSeconds, labels),
      seenAt: now(),
      gap: undefined,
      lost: false,
      usedBytes: undefined,
      groups: new Set(),
    }
    gpus.set(index, gpu)
    return gpu
  }
  const sampled = (index: number, uuid: string): KnownGpu => {
    const known = gpus.get(index)
    return known?.uuid === uuid ? known : make(index, uuid)
  }
  return {
    hello({ gpus: present, lost: gone }, leftOut) {
      const before = [...gpus.values()]
      const absent = new Set([...leftOut, ...gone.map(({ index }) => index)])
      for (const { index, uuid } of present) {
        const gpu = sampled(index, uuid)
        gpu.lost = false
      }
      const lost = gone.map(({ index, reason, code, detail }) => {
        const gpu = gpus.get(index) ?? make(index, undefined)
        gpu.lost = true
        gpu.gap = { metric: 'gpu', labels: gpu.labels, reason, code, detail }
        return gpu
      })
      const indices = new Set(present.map(({ index }) => index))
      const vanished = before.filter((gpu) => gpus.get(gpu.index) !== gpu || (!indices.has(gpu.index) && !absent.has(gpu.index)))
      for (const gpu of vanished) if (gpus.get(gpu.index) === gpu) gpus.delete(gpu.index)
      return { vanished, lost }
    },
    find: (index) => gpus.get(index),
    at: (index) => gpus.get(index) ?? make(index, undefined),
    sampled,
    all: () => gpus.values(),
    ages(now) {
      const readings: Reading[] = []
      for (const { age, lost, seenAt } of gpus.values())
        if (age !== undefined && !lost) readings.push({ series: age, value: Math.max(0, now - seenAt) / 1_000 })
      return readings
    },
  }
}
