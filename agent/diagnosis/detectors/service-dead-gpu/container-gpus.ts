// Which GPUs a container works on, remembered over the time in which a GPU cannot be read: a lost GPU lists no processes any more.
import { containerGpuRequested } from '../../../metrics/container.ts'
import type { Present } from '../parts/present.ts'
import type { Track, Tracks } from '../parts/tracks.ts'

export type UsedGpu = { readonly uuid: string; index: number; lastT: number; pids: Set<number> }
export type ContainerGpus = {
  /** Looks at what holds now; `isRead` says whether a GPU is read now. */
  readonly look: (t: number, indexOf: (uuid: string) => number, isRead: (uuid: string) => boolean) => void
  readonly of: (container: string) => Iterable<UsedGpu>
  readonly forget: (container: string) => void
}

export const CONTAINER_GPU_METRICS: readonly string[] = [containerGpuRequested.name]
/** The driver's list comes each second; a list that is older is not of now. */
const FRESH_MS = 5_000
/** A GPU that is read and that the container has left for so long is none of its own any more. */
const LEFT_MS = 60_000
const MAX_CONTAINERS = 5_000

export function createContainerGpus(present: Present, tracks: Tracks): ContainerGpus {
  const known = new Map<string, Map<string, UsedGpu>>()
  const note = (container: string, uuid: string, index: number, t: number): UsedGpu => {
    let gpus = known.get(container)
    if (gpus === undefined) {
      if (known.size >= MAX_CONTAINERS) for (const oldest of known.keys()) if (known.delete(oldest)) break
      known.set(container, (gpus = new Map()))
    }
    let gpu = gpus.get(uuid)
    if (gpu === undefined) gpus.set(uuid, (gpu = { uuid, index, lastT: t, pids: new Set() }))
    if (Number.isInteger(index)) gpu.index = index
    gpu.lastT = t
    return gpu
  }
  const worksNow = ({ endedT, nvml }: Track, t: number): boolean => endedT === undefined && nvml !== undefined && Math.abs(t - nvml.t) <= FRESH_MS

  return {
    look(t, indexOf, isRead) {
      for (const track of tracks.all()) {
        const { container, uuid, pid } = track
        if (container === undefined || !worksNow(track, t)) continue
        const gpu = note(container, uuid, indexOf(uuid), t)
        gpu.pids.add(pid)
        if (gpu.pids.size > 64) for (const old of gpu.pids) if (tracks.get(uuid, old)?.endedT !== undefined) gpu.pids.delete(old)
      }
      // What it was given counts only until it is known what it uses.
      for (const { series } of present.of(containerGpuRequested.name)) {
        const { container, uuid, gpu } = series.labels
        if (container === undefined || uuid === undefined) continue
        const used = known.get(container)
        if (used === undefined || [...used.values()].every(({ pids }) => pids.size === 0)) note(container, uuid, Number(gpu), t)
      }
      for (const gpus of known.values()) for (const { uuid, lastT } of gpus.values()) if (t - lastT > LEFT_MS && isRead(uuid)) gpus.delete(uuid)
    },
    of: (container) => known.get(container)?.values() ?? [],
    forget: (container) => void known.delete(container),
  }
}
