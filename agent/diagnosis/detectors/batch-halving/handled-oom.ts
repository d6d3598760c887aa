// Requests that failed and that the process survived: what its work needed at most before and after, beside what it always holds.
import type { AllocatorSample, Event } from '../../../model/event.ts'
import type { Track, Tracks } from '../parts/tracks.ts'

export type Handled = {
  /** Of the last failure. */
  readonly t: number
  readonly ooms: number
  /** Bytes that it holds all the time (weights, optimizer): the least that was active, the same before and after. */
  readonly floor: number
  /** The most that was active beyond that: in the minutes before, or what the failed attempt had reached and asked for (it may have wanted more). */
  readonly before: number
  readonly after: number
}
export type HandledOoms = {
  readonly ingest: (event: Event) => void
  /** Failures that are over: each is given once, when a plateau of minutes has followed. */
  readonly settled: (t: number) => readonly (readonly [Track, Handled])[]
}

/** One sample a second misses short peaks, so a plateau needs the same highest value in two spans of three minutes. */
const SLOT_MS = 60_000
const HALF = 3
const PLATEAU = 2 * HALF
/** Both are alike. */
const LEVEL = 0.1
/** No plateau within this time: nothing is reported. */
const GIVE_UP_MS = 20 * SLOT_MS
/** Needs as much as before the failure: the program dropped what failed, it works on as it did. */
const AS_BEFORE = 1.15
/** The first steps after a failure may still be tries. */
const SETTLE_MS = 10_000
/** Work that is hardly more than what is always held has no meaningful ratio. */
const LEAST_WORK = 0.1

type Slot = { readonly slot: number; low: number; high: number }
type Trial = { readonly before: readonly Slot[]; attempt: number; t: number; ooms: number; slots: Slot[] }
/** `ooms`: the newest value of the counter, from a sample or an event. */
type Fold = { slots: Slot[]; last: AllocatorSample; ooms: number | undefined; trial: Trial | undefined }

const peakOf = (slots: readonly Slot[]): number => Math.max(0, ...slots.map(({ high }) => high))
const floorOf = (slots: readonly Slot[]): number => Math.min(...slots.map(({ low }) => low))
const isPlateau = (slots: readonly Slot[]): boolean => {
  if (slots.length < PLATEAU) return false
  const [first, second] = [peakOf(slots.slice(-PLATEAU, -HALF)), peakOf(slots.slice(-HALF))]
  return Math.abs(first - second) <= LEVEL * (Math.max(first, second) - floorOf(slots))
}

function addTo(slots: Slot[], t: number, active: number): void {
  const slot = Math.floor(t / SLOT_MS)
  const last = slots.at(-1)
  if (last?.slot !== slot) {
    slots.push({ slot, low: active, high: active })
    if (slots.length > PLATEAU + 1) slots.shift()
    return
  }
  last.low = Math.min(last.low, active)
  last.high = Math.max(last.high, active)
}

export function createHandled(tracks: Tracks): HandledOoms {
  const folds = new Map<Track, Fold>()

  const fail = (fold: Fold, t: number, attempt: number, ooms: number): void => {
    const open = fold.trial
    // Several tries until one fits count as one failure: the first one had the full size.
    if (open !== undefined) {
      open.attempt = Math.max(open.attempt, attempt)
      open.t = t
      open.ooms += ooms
      open.slots = []
      return
    }
    fold.trial = { before: fold.slots, attempt, t, ooms, slots: [] }
    fold.slots = []
  }
  const onSample = (track: Track, sample: AllocatorSample): void => {
    const { active_bytes: active, num_ooms: ooms } = sample.stats
    if (active === undefined) return
    const fold = folds.get(track)
    if (fold === undefined || sample.t < fold.last.t) {
      folds.set(track, { slots: [{ slot: Math.floor(sample.t / SLOT_MS), low: active, high: active }], last: sample, ooms, trial: undefined })
      return
    }
    fold.last = sample
    // Counted by the sample where no event reported it (PyTorch before 2.0, or an observer that could not be attached).
    const more = ooms === undefined || fold.ooms === undefined ? 0 : ooms - fold.ooms
    fold.ooms = ooms ?? fold.ooms
    if (more > 0) fail(fold, sample.t, 0, more)
    if (fold.trial === undefined) addTo(fold.slots, sample.t, active)
    else if (sample.t - fold.trial.t >= SETTLE_MS) addTo(fold.trial.slots, sample.t, active)
  }

  const compare = ({ before, attempt, t, ooms, slots }: Trial): Handled | undefined => {
    const after = slots.slice(-PLATEAU)
    const earlier = before.slice(-PLATEAU)
    const floor = floorOf(after)
    const now = peakOf(after) - floor
    const usual = isPlateau(earlier) ? peakOf(earlier) - floor : 0
    // Where it needs more now than it usually did, it was new work that failed: that is what it is compared with.
    const full = now <= AS_BEFORE * usual ? usual : attempt - floor
    if (full < LEAST_WORK * (floor + full) || now <= 0) return undefined
    return { t, ooms, floor, before: full, after: now }
  }

  return {
    ingest(event) {
      if (event.type === 'allocator') {
        const track = tracks.get(event.uuid, event.pid)
        if (track !== undefined) onSample(track, event)
      } else if (event.type === 'allocator_oom') {
        const track = tracks.get(event.uuid, event.pid)
        const fold = track === undefined ? undefined : folds.get(track)
        if (fold === undefined) return
        const { num_ooms: ooms = (fold.ooms ?? 0) + 1, active_bytes: active, allocated_bytes: allocated } = event.stats
        const more = Math.max(0, ooms - (fold.ooms ?? 0))
        fold.ooms = Math.max(ooms, fold.ooms ?? 0)
        fail(fold, event.t, (active ?? allocated ?? 0) + event.request_bytes, more)
      }
    },
    settled(t) {
      const found: (readonly [Track, Handled])[] = []
      for (const [track, fold] of folds) {
        if (track.endedT !== undefined) {
          folds.delete(track)
          continue
        }
        const { trial } = fold
        // The slot that is being filled is no part of the plateau.
        if (trial === undefined || trial.slots.length <= PLATEAU) continue
        const whole = { ...trial, slots: trial.slots.slice(0, -1) }
        if (isPlateau(whole.slots)) {
          const handled = compare(whole)
          if (handled !== undefined) found.push([track, handled])
        } else if (t - trial.t < GIVE_UP_MS) continue
        fold.slots = trial.slots
        fold.trial = undefined
      }
      return found
    },
  }
}
