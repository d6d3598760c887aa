// What one process can use of its card: what is free and what it holds itself, or less where a memory fraction limits it.
import type { Track, Tracks } from '../parts/tracks.ts'

/** The process list and the memory of the card are read a moment apart. */
const TOGETHER_MS = 5_000

/** In bytes; undefined when the card or the process was not read. Both figures are the driver's: sums with the probe's would waver. */
export function usableBytes(tracks: Tracks, { uuid, nvml, sample, mig }: Track): number | undefined {
  const gpu = tracks.gpu(uuid)
  if (gpu === undefined) return undefined
  const limit = sample?.limit_bytes ?? undefined
  // What is free on the card is not free for a MIG instance of it.
  if (mig) return limit
  const own = nvml !== undefined && Math.abs(nvml.t - gpu.t) <= TOGETHER_MS ? nvml.bytes : sample?.stats.reserved_bytes
  if (own === undefined) return limit
  const room = gpu.free + own
  return limit === undefined ? room : Math.min(limit, room)
}
