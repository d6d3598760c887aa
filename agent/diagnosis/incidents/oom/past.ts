// What each process and its GPU held in the last two hours, a minute each: what grew before the memory ran out. Fed once a second from the tracks.
import type { Track, Tracks } from '../../detectors/parts/tracks.ts'
import { createEarlierRuns } from './earlier-runs.ts'
import { createSteps, type Steps } from './steps.ts'
import { risePerStep } from './trend.ts'

/** What rose: by how much over the time looked at, and how fast. `jumpedInMs`: most of it came at once, within so long before. */
export type Growth = { readonly bytes: number; readonly perHour: number; readonly overMs: number; readonly jumpedInMs?: number }

/** By `bytes` above the highest of `overMs`, most of it within the last `withinMs`. */
export type Rise = { readonly bytes: number; readonly overMs: number; readonly withinMs: number }

export type MemoryPast = {
  /** Complete minutes that are known. */
  readonly minutes: number
  readonly ageMs: number
  /** Most that PyTorch had in use in an earlier minute, and the least of the last ten. */
  readonly peakBytes?: number
  readonly floorBytes?: number
  /** Of the memory in use at its peaks; without a probe, of the process as a whole. */
  readonly own?: Growth
  /** What it holds in its last minutes, too few for a trend, beyond the most of all known minutes before. */
  readonly rose?: Rise
  /** What the others on the GPU hold now above the least since this process began. */
  readonly others?: Growth
  /** The same for what the process holds outside PyTorch. */
  readonly outside?: Growth
  /** As long as it was alive: of one second. */
  readonly last?: Moment
  /** Runs of the same container on this GPU that ended before, and how many of them grew to their end. */
  readonly earlierRuns?: { readonly count: number; readonly grew: number }
}
export type Moment = {
  readonly t: number
  readonly processBytes: number
  readonly othersBytes: number
  readonly outsideBytes: number | undefined
  readonly freeBytes: number | undefined
}

export type Pasts = { readonly sample: (t: number) => void; readonly of: (track: Track, t: number) => MemoryPast }

const MINUTE_MS = 60_000
const MINUTES = 120
/** A process that starts up grows, which says nothing. */
const START_MINUTES = 2
/** Recent enough to tell of what goes on now. */
const TREND_MINUTES = 60
const FLOOR_MINUTES = 10
/** So much of a rise in the last of so many minutes is a jump, not a trend. */
const JUMP_SHARE = 0.8
const JUMP_BEFORE = 4
/** What rises over so many minutes is too short for a trend. */
const ROSE_MINUTES = 3
/** Readings of one second; an older one is of a driver that does not answer. */
const FRESH_MS = 3_000

type Minute = { readonly at: number; peak: number | undefined; floor: number | undefined; process: number; others: number; outside: number | undefined }
type Kept = {
  minutes: Minute[]
  last: Moment | undefined
  /** The newest two samples and the driver's figure between them: only where PyTorch held still, the difference is what is outside. */
  sampleT: number
  reserved: number | undefined
  processBytes: number
  /** Of a young process, whose minutes are too few. */
  readonly steps: Steps
  counted: boolean
}

export function createPasts(tracks: Tracks): Pasts {
  const kept = new WeakMap<Track, Kept>()
  const earlier = createEarlierRuns()

  const outsideOf = (state: Kept, { sample, nvml }: Track): number | undefined => {
    if (sample === undefined || nvml === undefined || sample.t === state.sampleT) return undefined
    const { reserved_bytes: reserved } = sample.stats
    const still = reserved !== undefined && reserved === state.reserved && sample.t - state.sampleT <= FRESH_MS
    const found = still && state.processBytes > 0 ? Math.max(0, state.processBytes - reserved) : undefined
    state.sampleT = sample.t
    state.reserved = reserved
    return found
  }
  const note = (track: Track, t: number, onGpu: number): void => {
    const { nvml, sample } = track
    let state = kept.get(track)
    if (state === undefined)
      kept.set(track, (state = { minutes: [], last: undefined, sampleT: 0, reserved: undefined, processBytes: 0, steps: createSteps(), counted: false }))
    const outside = outsideOf(state, track)
    const fresh = nvml !== undefined && Math.abs(t - nvml.t) <= FRESH_MS
    state.processBytes = fresh ? nvml.bytes : 0
    const used = sample !== undefined && Math.abs(t - sample.t) <= FRESH_MS ? sample.stats.allocated_bytes : undefined
    if (!fresh && used === undefined) return
    const processBytes = state.processBytes
    const others = Math.max(0, onGpu - processBytes)
    if (fresh) {
      const gpu = tracks.gpu(track.uuid)
      const freeBytes = gpu !== undefined && Math.abs(t - gpu.t) <= FRESH_MS ? gpu.free : undefined
      state.last = { t, processBytes, othersBytes: others, outsideBytes: outside ?? state.last?.outsideBytes, freeBytes }
    }
    const at = Math.floor(t / MINUTE_MS)
    let minute = state.minutes.at(-1)
    if (minute?.at !== at) {
      state.minutes.push((minute = { at, peak: undefined, floor: undefined, process: 0, others: 0, outside: undefined }))
      if (state.minutes.length > MINUTES) state.minutes.shift()
    }
    if (used !== undefined) {
      state.steps.note(t - track.firstT, used)
      minute.peak = Math.max(minute.peak ?? 0, used)
      minute.floor = Math.min(minute.floor ?? Infinity, used)
    }
    if (fresh) {
      minute.process = Math.max(minute.process, processBytes)
      minute.others = Math.max(minute.others, others)
    }
    if (outside !== undefined) minute.outside = Math.min(minute.outside ?? Infinity, outside)
  }

  const ended = (track: Track, t: number): void => {
    const state = kept.get(track)
    if (state === undefined || state.counted) return
    state.counted = true
    const { own, rose } = pasts.of(track, t)
    const peaks = state.minutes.flatMap(({ peak }) => peak ?? []).slice(0, -ROSE_MINUTES)
    const usual = peaks.length < JUMP_BEFORE ? undefined : { bytes: Math.max(...peaks), overMs: peaks.length * MINUTE_MS }
    earlier.add(track, { usual, grew: own !== undefined || rose !== undefined })
  }

  const pasts: Pasts = {
    sample(t) {
      const onGpu = new Map<string, number>()
      for (const { uuid, nvml, endedT } of tracks.all())
        if (nvml !== undefined && endedT === undefined && Math.abs(t - nvml.t) <= FRESH_MS) onGpu.set(uuid, (onGpu.get(uuid) ?? 0) + nvml.bytes)
      for (const track of tracks.all()) {
        if (track.endedT === undefined) note(track, t, onGpu.get(track.uuid) ?? 0)
        else ended(track, track.endedT)
      }
    },
    of(track, t) {
      const state = kept.get(track)
      const ageMs = Math.max(0, t - track.firstT)
      const before = earlier.of(track)
      const runs = before === undefined ? {} : { earlierRuns: { count: before.count, grew: before.grew } }
      if (state === undefined) return { minutes: 0, ageMs, ...runs }
      const now = Math.floor(t / MINUTE_MS)
      const complete = state.minutes.filter(({ at }) => at < now)
      const begun = Math.floor(track.firstT / MINUTE_MS) + START_MINUTES
      const settled = complete.filter(({ at }) => at >= begun)
      const young = settled.length < JUMP_BEFORE + ROSE_MINUTES
      const grown = growths(settled, state.last)
      const own = grown.own ?? (young ? state.steps.growth() : undefined)
      // What an earlier run of the job had in use for long is the measure for a young one.
      const usual = young && own === undefined ? before?.usual : undefined
      const above = usual === undefined ? 0 : (state.steps.highest() ?? 0) - usual.bytes
      const rose = young
        ? usual === undefined || above <= 0
          ? undefined
          : { bytes: above, overMs: usual.overMs, withinMs: Math.max(MINUTE_MS, ageMs) }
        : roseIn(complete, state.minutes.at(-1))
      return {
        minutes: complete.length,
        ageMs,
        ...peaks(complete),
        ...grown,
        ...(own === undefined ? {} : { own }),
        ...runs,
        ...(rose === undefined ? {} : { rose }),
        ...(state.last === undefined ? {} : { last: state.last }),
      }
    },
  }
  return pasts
}

function peaks(complete: readonly Minute[]): Pick<MemoryPast, 'peakBytes' | 'floorBytes'> {
  const highest = complete.flatMap(({ peak }) => peak ?? [])
  const lowest = complete.slice(-FLOOR_MINUTES).flatMap(({ floor }) => floor ?? [])
  return {
    ...(highest.length === 0 ? {} : { peakBytes: Math.max(...highest) }),
    ...(lowest.length === 0 ? {} : { floorBytes: Math.min(...lowest) }),
  }
}

/** How long ago at most the rise began, where nearly all of it came at once: after one of the last two complete minutes, or within it if `least` of it is kept. */
function jumpIn(now: number, before: readonly number[], bytes: number, least: boolean): number | undefined {
  if (before.length < JUMP_BEFORE) return undefined
  const low = [1, 2].find((back) => now - (before.at(-back) ?? now) >= JUMP_SHARE * bytes)
  return low === undefined ? undefined : (low + (least ? 1 : 0)) * MINUTE_MS
}

function roseIn(complete: readonly Minute[], newest: Minute | undefined): Rise | undefined {
  const probed = complete.some(({ peak }) => peak !== undefined)
  const heldIn = ({ peak, process }: Minute): number | readonly [] => (probed ? (peak ?? []) : process)
  const held = complete.flatMap(heldIn)
  const before = held.slice(0, -ROSE_MINUTES)
  const late = held.slice(-ROSE_MINUTES)
  if (before.length < JUMP_BEFORE || newest === undefined) return undefined
  const highest = Math.max(...before)
  const bytes = Math.max(...[newest].flatMap(heldIn), ...late) - highest
  if (bytes <= 0) return undefined
  const low = late.findLastIndex((bytesThen) => bytesThen <= highest + (1 - JUMP_SHARE) * bytes)
  return { bytes, overMs: before.length * MINUTE_MS, withinMs: (late.length - low) * MINUTE_MS }
}

function growths(settled: readonly Minute[], last: Moment | undefined): Pick<MemoryPast, 'own' | 'others' | 'outside'> {
  const recent = settled.slice(-TREND_MINUTES)
  const probed = recent.flatMap(({ peak }) => peak ?? [])
  const rise = risePerStep(probed.length > 0 ? probed : recent.map(({ process }) => process))
  const spanOf = (list: readonly Minute[]): number => ((list.at(-1)?.at ?? 0) - (list[0]?.at ?? 0) + 1) * MINUTE_MS
  const own = rise === undefined ? undefined : { bytes: rise * recent.length, perHour: rise * 60, overMs: spanOf(recent) }
  const above = (now: number | undefined, before: readonly number[], least: boolean): Growth | undefined => {
    const bytes = now === undefined || before.length === 0 ? 0 : now - Math.min(...before)
    if (bytes <= 0) return undefined
    const overMs = spanOf(settled)
    const jumpedInMs = jumpIn(now ?? 0, before, bytes, least)
    return { bytes, perHour: (bytes / overMs) * 3_600_000, overMs, ...(jumpedInMs === undefined ? {} : { jumpedInMs }) }
  }
  const others = above(
    last?.othersBytes,
    settled.map((minute) => minute.others),
    false,
  )
  const outside = above(
    last?.outsideBytes,
    settled.flatMap((minute) => minute.outside ?? []),
    true,
  )
  return { ...(own === undefined ? {} : { own }), ...(others === undefined ? {} : { others }), ...(outside === undefined ? {} : { outside }) }
}
