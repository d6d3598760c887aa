// When each probed process had to flush its whole allocator cache (`num_alloc_retries`), and what was left after it.
import type { AllocatorSample } from '../../../model/event.ts'
import type { Track } from './tracks.ts'

export type Flush = {
  readonly t: number
  /** Flushes since the sample before; that may be many when samples were missing. */
  readonly count: number
  /** What the probe said first after it. */
  readonly after: AllocatorSample['stats']
  /** By how much the reserved bytes fell with it, where that was seen. */
  readonly returned: number
}
export type FlushRecord = {
  readonly flushes: Flush[]
  /** From here on no sample is missing. */
  wholeSince: number
  last: AllocatorSample
}

/** The probe reports once a second; after a longer pause nothing is known of the time between. */
const PAUSE_MS = 15_000
export const REMEMBERED_MS = 3_600_000
const MAX_FLUSHES = 4_000

/** Records a sample. The first one of a process, and the first after the program reset its counters, say nothing about flushes. */
export function noteFlushes(records: WeakMap<Track, FlushRecord>, track: Track, sample: AllocatorSample): void {
  const known = records.get(track)
  if (known === undefined || sample.t < known.last.t) {
    records.set(track, { flushes: [], wholeSince: sample.t, last: sample })
    return
  }
  const before = known.last
  known.last = sample
  if (sample.t - before.t > PAUSE_MS) known.wholeSince = sample.t
  const { num_alloc_retries: now, reserved_bytes: reserved } = sample.stats
  const { num_alloc_retries: then, reserved_bytes: had } = before.stats
  if (now === undefined || then === undefined || now <= then) return
  const returned = reserved === undefined || had === undefined ? 0 : Math.max(0, had - reserved)
  known.flushes.push({ t: sample.t, count: now - then, after: sample.stats, returned })
  const old = sample.t - REMEMBERED_MS
  while (known.flushes.length > MAX_FLUSHES || (known.flushes[0]?.t ?? sample.t) < old) known.flushes.shift()
}

export const flushesSince = ({ flushes }: FlushRecord, t: number): readonly Flush[] => flushes.filter((flush) => flush.t >= t)
