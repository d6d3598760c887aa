// Memory that a process holds, cannot use and cannot give back, while its card is nearly full: fragmentation, before it fails.
import { allocatorStrandedRatio } from '../../../metrics/process.ts'
import type { AllocatorSample } from '../../../model/event.ts'
import type { TypedFinding } from '../../../model/finding.ts'
import { defineDetector } from '../definition.ts'
import { flushesSince, noteFlushes, REMEMBERED_MS, type Flush, type FlushRecord } from '../parts/flushes.ts'
import { fragmentationFault } from './fragmentation-text.ts'
import { createMinutes, lowest, MINUTE_MS, type Minute, type Minutes } from '../parts/minutes.ts'
import { usableBytes } from './usable.ts'
import { aboutOf } from '../parts/who.ts'
import type { Track } from '../parts/tracks.ts'

/** The probe reports once a second. */
const FRESH_MS = 30_000
/** Of the minutes looked at, this part must have samples: what is missing may have been better. */
const PRESENT = 0.8
/** Free memory below this share of what the process can use: the next large request meets the pieces. */
const SCARCE = 0.15
/** Below this part of the threshold it is over; between the two nothing is said. */
const OVER = 0.7
/** Two flushes of one failing request are one. */
const APART_MS = 60_000
/**
 * Where ten minutes do not show it: so many times the threshold must lie stranded after half of the flushes of the last half hour. A second after a flush some of it is
 * new, and growing loads strand 12 to 24 % (pytorch-allocator.md, section 11).
 */
const AT_FLUSHES = 2
const PROOF_MS = 1_800_000

type Fold = { readonly sinceT: number; readonly minutes: Minutes<'idle'>; readonly record: FlushRecord }

/**
 * Free bytes that no flush gives back. Of native segments the allocator says it itself (`inactive_split`); of expandable ones only an upper bound
 * is known, reserved minus active, which right after a flush is the figure itself (pytorch-allocator.md, section 4).
 */
function idleBytes({ expandable, backend, stats }: Pick<AllocatorSample, 'expandable' | 'backend' | 'stats'>): number | undefined {
  if (backend === 'cudaMallocAsync' || backend === 'other') return undefined
  if (expandable !== true) return stats.inactive_split_bytes
  const { reserved_bytes: reserved, active_bytes: active } = stats
  return reserved === undefined || active === undefined ? undefined : Math.max(0, reserved - active)
}

export const fragmentationPressure = defineDetector({
  id: 'fragmentation-pressure',
  kinds: ['fragmentation_pressure'],
  title: 'GPU memory is fragmented',
  severity: 'warning',
  watches: [],
  everyMs: 30_000,
  options: {
    share: { default: 0.1, min: 0.03, max: 0.9, help: 'share of what the process can use that stays unusable' },
    minutes: { default: 10, min: 3, max: 55, help: 'for how many minutes' },
  },
  expression: {
    none: `${allocatorStrandedRatio.name} changes only at a flush, and no metric says which processes use expandable segments, whose unused memory looks the same`,
  },
  create: ({ share: threshold, minutes: span }, { tracks }) => {
    const records = new WeakMap<Track, FlushRecord>()
    const folds = new WeakMap<Track, Fold>()
    const raised = new Set<Track>()

    /** What half of these flushes left stranded at least, where there were some, well apart. */
    const leftByFlushes = (flushes: readonly Flush[], sample: AllocatorSample, least: number): number => {
      const span = (flushes.at(-1)?.t ?? 0) - (flushes[0]?.t ?? 0)
      if (flushes.length < least || span < APART_MS) return 0
      const left = flushes.map(({ after }) => idleBytes({ ...sample, stats: after }) ?? 0).sort((x, y) => x - y)
      return left[Math.floor((left.length - 1) / 2)] ?? 0
    }

    const judgeWhole = (track: Track, sample: AllocatorSample, { record }: Fold, recent: readonly Minute<'idle'>[], t: number): TypedFinding => {
      const said = { kind: 'fragmentation_pressure', key: track.key, about: aboutOf(track) } as const
      const usable = usableBytes(tracks, track)
      const free = tracks.gpu(track.uuid)?.free
      if (usable === undefined || usable <= 0 || free === undefined) return { ...said, state: 'unknown', why: 'the card was not read' }
      const stranded = lowest(recent, 'idle')
      const share = stranded / usable
      const flushes = flushesSince(record, t - REMEMBERED_MS)
      // A memory fraction may be used up while the card is not.
      const room = Math.min(free, Math.max(0, usable - (sample.stats.reserved_bytes ?? 0)))
      const tight = flushes.length > 0 || room < SCARCE * usable
      const recentFlushes = flushes.filter((flush) => t - flush.t <= PROOF_MS)
      const expandable = sample.expandable === true
      // Of an expandable process warm cache looks the same between flushes, so flushes must show it.
      const proven = expandable ? leftByFlushes(recentFlushes, sample, 2) >= threshold * usable : tight
      const seen = { track, tracks, sample, usable, room, flushes }
      if (share >= threshold && proven) {
        raised.add(track)
        return { ...said, state: 'faulty', ...fragmentationFault({ ...seen, stranded, minutes: span }) }
      }
      const left = expandable ? 0 : leftByFlushes(recentFlushes, sample, 3)
      if (left >= AT_FLUSHES * threshold * usable) {
        raised.add(track)
        return { ...said, state: 'faulty', ...fragmentationFault({ ...seen, stranded: left, minutes: undefined }) }
      }
      if (share >= OVER * threshold || (raised.has(track) && recentFlushes.length > 0))
        return { ...said, state: 'unknown', why: 'neither clearly fragmented nor clearly not' }
      raised.delete(track)
      return { ...said, state: 'healthy' }
    }

    const judgeOne = (track: Track, fold: Fold, t: number): TypedFinding | undefined => {
      const said = { kind: 'fragmentation_pressure', key: track.key, about: aboutOf(track) } as const
      if (track.endedT !== undefined) return raised.delete(track) ? { ...said, state: 'healthy', why: 'the process has ended' } : undefined
      const { sample } = track
      if (sample === undefined || t - sample.t > FRESH_MS) return { ...said, state: 'unknown', why: 'the probe is silent' }
      const recent = fold.minutes.over(t, span)
      if (t - fold.sinceT < span * MINUTE_MS || recent.length < span * PRESENT)
        return { ...said, state: 'unknown', why: `less than ${span} minutes of the allocator are known` }
      return judgeWhole(track, sample, fold, recent, t)
    }

    return {
      ingest(event) {
        if (event.type !== 'allocator') return
        const track = tracks.get(event.uuid, event.pid)
        const idle = idleBytes(event)
        if (track === undefined || idle === undefined) return
        noteFlushes(records, track, event)
        const record = records.get(track)
        const known = folds.get(track)
        if (known !== undefined && known.record === record) known.minutes.add(event.t, { idle })
        else if (record !== undefined) {
          const minutes = createMinutes(['idle'], Math.ceil(REMEMBERED_MS / MINUTE_MS))
          minutes.add(event.t, { idle })
          folds.set(track, { sinceT: event.t, minutes, record })
        }
      },
      judge(t) {
        const found: TypedFinding[] = []
        for (const track of tracks.all()) {
          const fold = folds.get(track)
          const finding = fold === undefined ? undefined : judgeOne(track, fold, t)
          if (finding !== undefined) found.push(finding)
        }
        return found
      },
    }
  },
})
