// What a process keeps grows without end: figures, since when, and what share of the card.
import type { TypedFinding } from '../../../model/finding.ts'
import { gib } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { upperFirst } from '../../../text/grammar.ts'
import { spanText } from '../../../text/span.ts'
import { defineDetector } from '../definition.ts'
import { keptRemedies, perMinute } from '../parts/growth-text.ts'
import { floorSlope, leakOf, type Leak, type LeakView } from './leak.ts'
import { COARSE_MS, FINE_MS } from '../parts/memory-history.ts'
import { TOO_LITTLE } from '../parts/points.ts'
import { aboutOf, gpuText, processText } from '../parts/who.ts'
import type { Track } from '../parts/tracks.ts'

const MINUTE_MS = 60_000
/** Loading and first steps. */
const WARM_UP_MS = 5 * MINUTE_MS
const FINE_SPANS_MS = [120, 90, 60, 40, 27].map((minutes) => minutes * MINUTE_MS)
const COARSE_SPANS_MS = [48, 24, 12, 6].map((hours) => hours * 60 * MINUTE_MS)
/** Shorter looks decide that it is over. */
const LATELY_MS = 27 * MINUTE_MS
/** Growing slower than this part of the reported slope: it has stopped. */
const STOPPED = 0.25
const FRESH_MS = 2 * MINUTE_MS
const TO_SPEAK = 3

type LeakState = { seen: number; leak: Leak; reported: boolean }

export const memoryLeak = defineDetector({
  id: 'memory-leak',
  kinds: ['memory_leak'],
  title: 'A process keeps more and more GPU memory',
  severity: 'warning',
  watches: [],
  everyMs: 60_000,
  options: {
    share: { default: 0.015, min: 0.002, max: 0.9, help: 'least growth, as a share of what the process can use' },
  },
  expression: {
    none: 'it lays a line through the lows of its use, over half an hour to two days and without steps; deriv() takes loading and evaluations for growth',
  },
  create: ({ share }, { tracks }) => {
    const states = new WeakMap<Track, LeakState>()

    const fault = (track: Track, { slope, grown, since }: Leak, capacity: number, t: number): TypedFinding => {
      const byDriver = track.memory.view() === 'driver'
      return {
        kind: 'memory_leak',
        key: track.key,
        about: aboutOf(track),
        state: 'faulty',
        severity: 'warning',
        title: `${upperFirst(processText(track))} keeps ${perMinute(slope)} more GPU memory each minute`,
        verdict: `${upperFirst(processText(track))} on ${gpuText(tracks, track.uuid)} ${byDriver ? 'takes' : 'keeps'} ${perMinute(slope)} more each minute, also when it is idle: ${gib(Math.round(grown))} (${percent(grown / capacity)} of what it can use) in ${spanText(t - since)}, in a straight line and without a pause.`,
        facts: {
          slope_bytes_per_second: Math.round(slope * 1_000),
          grown_bytes: Math.round(grown),
          since_ms: Math.round(since),
          total_bytes: capacity,
          ...(track.nvml === undefined ? {} : { process_bytes: track.nvml.bytes }),
          ...(track.process === undefined ? {} : { process: track.process }),
        },
        remedies: keptRemedies(byDriver),
      }
    }

    const judgeOne = (track: Track, t: number): TypedFinding | undefined => {
      const said = { kind: 'memory_leak', key: track.key, about: aboutOf(track) } as const
      const state = states.get(track)
      if (track.endedT !== undefined) return states.delete(track) ? { ...said, state: 'healthy', why: 'the process has ended' } : undefined
      const { memory } = track
      const capacity = memory.capacity()
      if (track.mig || capacity === undefined) return undefined
      if (t - memory.lastT() > FRESH_MS) return { ...said, state: 'unknown', why: 'its memory was not read for two minutes' }
      const from = track.firstT + WARM_UP_MS
      const common = { capacity, byDriver: memory.view() === 'driver', share }
      const fine: LeakView = { ...common, windows: memory.fine.filter((window) => window.t > from), windowMs: FINE_MS, spansMs: FINE_SPANS_MS }
      let leak = leakOf(fine, t)
      if (typeof leak === 'string' && memory.coarse.length >= 12) {
        const slow = leakOf({ ...common, windows: memory.coarse.filter((window) => window.t > from), windowMs: COARSE_MS, spansMs: COARSE_SPANS_MS }, t)
        if (typeof slow !== 'string') leak = slow
      }
      if (typeof leak !== 'string') {
        const now: LeakState = { seen: (state?.seen ?? 0) + 1, leak, reported: (state?.reported ?? false) || (state?.seen ?? 0) + 1 >= TO_SPEAK }
        states.set(track, now)
        return now.reported ? fault(track, leak, capacity, t) : { ...said, state: 'unknown', why: 'seen for the first time' }
      }
      // After a start of the agent, or a break: what was reported before may still be true.
      if (leak === TOO_LITTLE) return { ...said, state: 'unknown', why: leak }
      if (state === undefined || !state.reported) {
        states.delete(track)
        return { ...said, state: 'healthy' }
      }
      state.seen = 0
      const lately = floorSlope(fine, t, LATELY_MS)
      if (lately === undefined || lately > STOPPED * state.leak.slope) return { ...said, state: 'unknown', why: leak }
      states.delete(track)
      return { ...said, state: 'healthy', why: 'it has stopped growing' }
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        for (const track of tracks.all()) {
          const finding = judgeOne(track, t)
          if (finding !== undefined) found.push(finding)
        }
        return found
      },
    }
  },
})
