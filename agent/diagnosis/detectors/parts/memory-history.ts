// What one process's memory did, in windows: the floor that stays, the mean, and the highest peaks, each together with everything else on its card.
import type { AllocatorSample } from '../../../model/event.ts'

/** Bytes. `low`, `mean` and `high` are of the whole card as this process meets it: its own live bytes plus what it can never have. */
export type MemoryWindow = {
  /** Middle of the window, Unix ms. */
  t: number
  samples: number
  low: number
  sum: number
  high: number
  /** At the highest peak: with the free parts of split segments, which a flush does not give back (section 4 of the reference: U). */
  highUnreleasable: number
  /** Least and summed bytes of the process itself: live ones of its allocator with a probe, else what the driver lists. */
  ownLow: number
  ownSum: number
  /** Of the process, outside of its allocator (CUDA context, libraries); with a probe only. */
  outside: number
  /** What everything else on the card holds. */
  others: number
}

export type MemoryHistory = {
  /** Oldest first; the last one is still being filled. */
  readonly fine: readonly MemoryWindow[]
  readonly coarse: readonly MemoryWindow[]
  /** By its allocator's probe, or by the driver's list alone. */
  readonly view: () => 'probe' | 'driver'
  /** Since when the windows are of one view without a break, Unix ms. */
  readonly sinceT: () => number
  /** What the process can fill, Unix bytes: the card, or less where a memory fraction limits it; undefined when it was not read. */
  readonly capacity: () => number | undefined
  readonly lastT: () => number
  readonly reserved: () => number | undefined
  readonly onSample: (sample: AllocatorSample) => void
  /** One reading of the card and of the process at one time. */
  readonly onCard: (t: number, used: number, free: number, processBytes: number) => void
}

export const FINE_MS = 30_000
export const COARSE_MS = 600_000
/** Two hours, and two days. */
const MAX_FINE = 240
const MAX_COARSE = 288
/** A probe that was silent for longer is no probe: the driver's view takes over. */
const PROBE_SILENT_MS = 120_000
/** A break in the samples that is longer than this starts a new history. */
const BREAK_MS = 900_000
/** Driver and probe look at different moments: only a reserved size that did not change between two samples can be taken off the process's bytes. */
const PAIR_MS = 2_500

function opened(t: number): MemoryWindow {
  return { t, samples: 0, low: Infinity, sum: 0, high: -Infinity, highUnreleasable: 0, ownLow: Infinity, ownSum: 0, outside: 0, others: 0 }
}

function ring(spanMs: number, max: number): { readonly list: MemoryWindow[]; readonly at: (t: number) => MemoryWindow; readonly clear: () => void } {
  const list: MemoryWindow[] = []
  let slot = -1
  return {
    list,
    at(t) {
      const now = Math.floor(t / spanMs)
      const last = list.at(-1)
      if (now === slot && last !== undefined) return last
      // A clock that was set back by little goes on filling the newest window.
      if (now < slot && last !== undefined) return last
      slot = now
      const window = opened(now * spanMs + spanMs / 2)
      list.push(window)
      if (list.length > max) list.shift()
      return window
    },
    clear() {
      list.length = 0
      slot = -1
    },
  }
}

export function createMemoryHistory(): MemoryHistory {
  const fine = ring(FINE_MS, MAX_FINE)
  const coarse = ring(COARSE_MS, MAX_COARSE)
  let view: 'probe' | 'driver' = 'driver'
  let [sinceT, lastT, probeT] = [0, -Infinity, -Infinity]
  let previous: { readonly t: number; readonly reserved: number } | undefined
  let card: { readonly t: number; readonly used: number; readonly process: number } | undefined
  let capacity: number | undefined
  let limit: number | undefined
  /** Of the process but not of its allocator; known once a pair of samples enclosed a reading. */
  let outside: number | undefined
  let recordBefore: number | undefined

  const begin = (t: number, seen: 'probe' | 'driver'): void => {
    const away = t - lastT
    if (seen !== view || away > BREAK_MS || away < -BREAK_MS) {
      fine.clear()
      coarse.clear()
      view = seen
    }
    if (fine.list.length === 0) sinceT = t
    lastT = t
  }
  const put = (window: MemoryWindow, own: number, peak: number, unreleasable: number, others: number, out: number): void => {
    const total = own + out + others
    const top = peak + out + others
    window.samples += 1
    window.sum += total
    if (total < window.low) window.low = total
    if (top > window.high) {
      window.high = top
      window.highUnreleasable = unreleasable + out + others
    }
    window.ownLow = Math.min(window.ownLow, own)
    window.ownSum += own
    window.outside = out
    window.others = others
  }

  return {
    fine: fine.list,
    coarse: coarse.list,
    view: () => view,
    sinceT: () => sinceT,
    capacity: () => {
      if (capacity === undefined) return limit
      const last = fine.list.at(-1)
      return limit === undefined || last === undefined ? capacity : Math.min(capacity, limit + last.others + last.outside)
    },
    lastT: () => lastT,
    reserved: () => previous?.reserved,
    onSample(sample) {
      const { t, stats, peaks } = sample
      const reserved = stats.reserved_bytes
      const live = stats.active_bytes ?? stats.allocated_bytes
      if (reserved === undefined || live === undefined || !(live >= 0) || !(reserved >= 0)) return
      limit = sample.limit_bytes ?? undefined
      if (card !== undefined && previous !== undefined && previous.reserved === reserved && card.t >= previous.t && card.t <= t && t - previous.t <= PAIR_MS)
        outside = Math.max(0, card.process - reserved)
      previous = { t, reserved }
      probeT = t
      // A new record since the last sample is a peak that the samples missed.
      const record = peaks?.allocated_bytes
      const peak = record !== undefined && recordBefore !== undefined && record > recordBefore && record <= reserved ? Math.max(live, record) : live
      recordBefore = record
      if (card === undefined || t - card.t > PAIR_MS * 4 || outside === undefined) return
      begin(t, 'probe')
      const held = live + (stats.inactive_split_bytes ?? 0)
      const others = Math.max(0, card.used - card.process)
      put(fine.at(t), live, peak, held + peak - live, others, outside)
      put(coarse.at(t), live, peak, held + peak - live, others, outside)
    },
    onCard(t, used, free, processBytes) {
      if (card?.t === t || !(used >= 0) || !(free >= 0) || !(processBytes >= 0)) return
      card = { t, used, process: processBytes }
      capacity = used + free
      if (t - probeT <= PROBE_SILENT_MS) return
      begin(t, 'driver')
      const others = Math.max(0, used - processBytes)
      put(fine.at(t), processBytes, processBytes, processBytes, others, 0)
      put(coarse.at(t), processBytes, processBytes, processBytes, others, 0)
    },
  }
}
