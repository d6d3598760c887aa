// Forecasts when a process runs out of GPU memory if its growth goes on. No forecast when the data does not support one.
import { memoryExhaustionEarliestSeconds } from '../../../metrics/incident.ts'
import type { TypedFinding, ForecastInterval } from '../../../model/finding.ts'
import { gib } from '../../../text/bytes.ts'
import { upperFirst } from '../../../text/grammar.ts'
import { rangeText, spanText } from '../../../text/span.ts'
import { defineDetector } from '../definition.ts'
import { foresee, type Exhaustion, type View } from './exhaustion.ts'
import { TOO_LITTLE } from '../parts/points.ts'
import { CHECKPOINT, growerOf, perMinute, REMEDIES, type Grower } from '../parts/growth-text.ts'
import { median } from '../parts/trend.ts'
import { COARSE_MS, FINE_MS } from '../parts/memory-history.ts'
import { aboutOf, gpuText, processText } from '../parts/who.ts'
import type { Track, Tracks } from '../parts/tracks.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Loading, first steps, the first evaluation: nothing that grows then goes on growing. */
const WARM_UP_MS = 5 * MINUTE_MS
/** The longest straight growth counts. */
const FINE_SPANS_MS = [120, 90, 60, 40, 27, 18, 12, 8].map((minutes) => minutes * MINUTE_MS)
const COARSE_SPANS_MS = [48, 24, 12, 6].map((hours) => hours * HOUR_MS)
/** No forecast without readings of the last two minutes. */
const FRESH_MS = 2 * MINUTE_MS
/** How often in a row, half a minute apart, it must be seen before it is reported, and missed before it is resolved. */
const TO_SPEAK = 3
const TO_FALL_SILENT = 4

/** Newest last; the median of so many is reported, so that the noise of one window does not move the forecast. */
const KEPT_INTERVALS = 5

type ForecastState = {
  seen: number
  missed: number
  result: Exhaustion | undefined
  /** When the result was found. */
  at: number
  critical: boolean
  readonly earliest: number[]
  readonly latest: number[]
}

function foreseeTrack({ memory, firstT }: Track, now: number, capacity: number): Exhaustion | string {
  const from = firstT + WARM_UP_MS
  const view = { capacity, ownOnly: memory.view() === 'driver' }
  const windows = memory.fine.filter(({ t }) => t > from)
  const fine: View = { ...view, windows, windowMs: FINE_MS, spansMs: FINE_SPANS_MS }
  const found = foresee(fine, now)
  if (typeof found !== 'string' || memory.coarse.length < 12) return found
  const slow = foresee({ ...view, windows: memory.coarse.filter(({ t }) => t > from), windowMs: COARSE_MS, spansMs: COARSE_SPANS_MS }, now)
  return typeof slow === 'string' ? found : slow
}

/** By the driver alone a full card may still hold warm cache, so that only the near end is known. */
function intervalOf({ earliest, latest }: ForecastState, byDriver: boolean): ForecastInterval {
  return { earliestMs: Math.round(median(earliest)), latestMs: byDriver ? null : Math.round(median(latest)) }
}
function keep(list: number[], value: number): void {
  list.push(value)
  if (list.length > KEPT_INTERVALS) list.shift()
}

const GROWS: Readonly<Record<Grower, (slope: string) => string>> = {
  kept: (slope) => `it has kept ${slope} more each minute`,
  listed: (slope) => `it has taken ${slope} more each minute (as the driver lists it; without the probe live tensors and cache cannot be distinguished)`,
  peaks: (slope) => `its peaks have risen by ${slope} each minute, between them the memory was given back`,
  outside: (slope) => `it has taken ${slope} more each minute outside of PyTorch’s allocator`,
  others: (slope) => `other processes on the card have taken ${slope} more each minute`,
}

function when({ earliestMs, latestMs }: ForecastInterval, t: number): string {
  const [from, to] = [Math.max(0, (earliestMs ?? t) - t), latestMs === null ? undefined : latestMs - t]
  if (to === undefined) return from < MINUTE_MS ? 'from now on' : `in ${spanText(from)} at the earliest`
  return from < MINUTE_MS ? `within ${spanText(to)}` : `in ${rangeText(from, to)}`
}

export const memoryExhaustion = defineDetector({
  id: 'memory-exhaustion',
  kinds: ['memory_exhaustion_forecast'],
  title: 'GPU memory runs out if the trend goes on',
  severity: 'warning',
  watches: [],
  everyMs: 30_000,
  options: {
    horizon_minutes: { default: 1_440, min: 5, max: 10_080, help: 'failures further ahead than this are not reported' },
    critical_minutes: { default: 15, min: 0, max: 1_440, help: 'critical from so many minutes before the earliest time on' },
  },
  expression: { promql: `${memoryExhaustionEarliestSeconds.name} <= 86400` },
  create: ({ horizon_minutes: horizon, critical_minutes: critical }, { tracks }) => {
    const states = new WeakMap<Track, ForecastState>()

    const faulty = (track: Track, state: ForecastState, found: Exhaustion, t: number): TypedFinding => {
      const { memory, nvml, sample } = track
      const byDriver = memory.view() === 'driver'
      const forecast = intervalOf(state, byDriver)
      const grower = growerOf(found.points, found.stays, byDriver)
      const capacity = memory.capacity()
      const unreleasable = sample === undefined || byDriver ? undefined : (sample.stats.active_bytes ?? 0) + (sample.stats.inactive_split_bytes ?? 0)
      return {
        kind: 'memory_exhaustion_forecast',
        key: track.key,
        about: aboutOf(track),
        state: 'faulty',
        severity: state.critical ? 'critical' : 'warning',
        title: `${upperFirst(processText(track))} runs out of GPU memory ${when(forecast, t)}`,
        verdict: `${upperFirst(processText(track))} on ${gpuText(tracks, track.uuid)} runs out of memory ${when(forecast, t)} if this goes on. For ${spanText(found.spanMs)} ${GROWS[grower](perMinute(found.slope))}; ${gib(Math.round(found.room))} are left above the highest peak.`,
        facts: {
          slope_bytes_per_second: Math.round(found.slope * 1_000),
          headroom_bytes: Math.round(found.room),
          ...(forecast.earliestMs === null ? {} : { earliest_ms: forecast.earliestMs }),
          ...(forecast.latestMs === null ? {} : { latest_ms: forecast.latestMs }),
          since_ms: Math.round(state.at - found.spanMs),
          grows: grower,
          ...(unreleasable === undefined ? {} : { unreleasable_bytes: unreleasable }),
          ...(nvml === undefined ? {} : { process_bytes: nvml.bytes }),
          ...(capacity === undefined ? {} : { total_bytes: capacity }),
          ...(track.process === undefined ? {} : { process: track.process }),
        },
        remedies: [...REMEDIES[grower], CHECKPOINT],
        forecast,
      }
    }

    const judgeOne = (track: Track, t: number, hidden: boolean): TypedFinding | undefined => {
      const said = { kind: 'memory_exhaustion_forecast', key: track.key, about: aboutOf(track) } as const
      const before = states.get(track)
      if (track.endedT !== undefined) return states.delete(track) ? { ...said, state: 'healthy', why: 'the process has ended' } : undefined
      const capacity = track.memory.capacity()
      if (track.mig || capacity === undefined) return undefined
      if (hidden) return states.delete(track) ? { ...said, state: 'healthy', why: 'a process with a probe on the same card is judged instead' } : undefined
      if (t - track.memory.lastT() > FRESH_MS) {
        if (before !== undefined) before.missed = before.seen = 0
        return { ...said, state: 'unknown', why: 'its memory was not read for two minutes' }
      }
      const found = foreseeTrack(track, t, capacity)
      if (typeof found === 'string' || found.earliest > horizon * MINUTE_MS) {
        // After a start of the agent, or a break: what was reported before may still be true.
        if (found === TOO_LITTLE) return { ...said, state: 'unknown', why: found }
        if (before === undefined) return { ...said, state: 'healthy' }
        before.missed += 1
        if (before.result === undefined || before.missed >= TO_FALL_SILENT) {
          states.delete(track)
          const why = typeof found === 'string' ? WHY[found] : undefined
          return { ...said, state: 'healthy', ...(why === undefined ? {} : { why }) }
        }
        return faulty(track, before, before.result, t)
      }
      const state: ForecastState = before ?? { seen: 0, missed: 0, result: undefined, at: t, critical: false, earliest: [], latest: [] }
      states.set(track, state)
      state.seen += 1
      state.missed = 0
      keep(state.earliest, t + found.earliest)
      keep(state.latest, t + found.latest)
      if (state.seen < TO_SPEAK)
        return state.result === undefined ? { ...said, state: 'unknown', why: 'seen for the first time' } : faulty(track, state, state.result, t)
      state.result = found
      state.at = t
      state.critical ||= found.earliest < critical * MINUTE_MS
      return faulty(track, state, found, t)
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const probed = probedGpus(tracks)
        for (const track of tracks.all()) {
          const finding = judgeOne(track, t, track.memory.view() === 'driver' && probed.has(track.uuid))
          if (finding !== undefined) found.push(finding)
        }
        return found
      },
    }
  },
})

/** Their processes with a probe say exactly when they fail, also for what others on the card take: two forecasts for one card would contradict each other. */
function probedGpus(tracks: Tracks): ReadonlySet<string> {
  const found = new Set<string>()
  for (const { uuid, endedT, memory } of tracks.all()) if (endedT === undefined && memory.view() === 'probe') found.add(uuid)
  return found
}
const WHY: Readonly<Record<string, string>> = {
  'no rise that matters': 'it has stopped growing',
  'no trend': 'it has stopped growing',
  'the rise slows down': 'it grows more slowly',
  'too far ahead': 'it grows too slowly to matter soon',
}
