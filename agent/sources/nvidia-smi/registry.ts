// The GPU registry of nvidia-smi: index and UUID outlive a run in which it cannot open a GPU, and the age of its readings goes on.
import { gpuSampleAgeSeconds } from '../../metrics/gpu-identity.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries } from '../../model/series.ts'
import type { Labels, Series } from '../../model/series.ts'
import type { ParsedGpu } from './gpu.ts'
import { busKey } from './parse.ts'
import type { ParseGap } from './result.ts'

export type KnownGpu = {
  readonly uuid: string
  readonly busKey: string | undefined
  readonly labels: Labels
  readonly age: Series
  /** performance.now() when the newest reading of it was taken. */
  readAt: number
}

export type GpuRegistry = {
  /** The GPU of a reading; undefined when it has no UUID and is not known by its place. */
  readonly seen: (gpu: ParsedGpu, at: number) => KnownGpu | undefined
  readonly labelsOf: (gap: ParseGap) => Labels
  /** Forgets all but these; answers those that were forgotten. */
  readonly keep: (uuids: ReadonlySet<string>) => readonly KnownGpu[]
  readonly known: (place: Pick<ParseGap, 'index' | 'pciBusId'>) => KnownGpu | undefined
  readonly ages: (now: number) => readonly Reading[]
}

export function createGpuRegistry(): GpuRegistry {
  const gpus = new Map<string, KnownGpu>()
  const known = ({ index, pciBusId }: Pick<ParseGap, 'index' | 'pciBusId'>): KnownGpu | undefined => {
    for (const gpu of gpus.values()) {
      if (pciBusId === undefined ? index !== undefined && gpu.labels['gpu'] === String(index) : gpu.busKey === busKey(pciBusId)) return gpu
    }
    return undefined
  }
  return {
    known,
    seen(gpu, at) {
      const uuid = gpu.uuid ?? known(gpu)?.uuid
      if (uuid === undefined) return undefined
      const before = gpus.get(uuid)
      const index = gpu.index === undefined ? before?.labels['gpu'] : String(gpu.index)
      if (before !== undefined && before.labels['gpu'] === index) {
        before.readAt = at
        return before
      }
      const labels: Labels = index === undefined ? { uuid } : { gpu: index, uuid }
      const entry = {
        uuid,
        busKey: gpu.pciBusId === undefined ? undefined : busKey(gpu.pciBusId),
        labels,
        age: makeSeries(gpuSampleAgeSeconds, labels),
        readAt: at,
      }
      gpus.set(uuid, entry)
      return entry
    },
    labelsOf(gap) {
      const gpu = known(gap)
      if (gpu !== undefined) return gpu.labels
      return gap.index === undefined ? {} : { gpu: String(gap.index) }
    },
    keep(uuids) {
      const gone = [...gpus.values()].filter(({ uuid }) => !uuids.has(uuid))
      for (const { uuid } of gone) gpus.delete(uuid)
      return gone
    },
    ages: (now) => [...gpus.values()].map(({ age, readAt }) => ({ series: age, value: Math.max(0, now - readAt) / 1_000 })),
  }
}
