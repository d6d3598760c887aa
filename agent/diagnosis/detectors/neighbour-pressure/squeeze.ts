// Whether what others hold on a card has grown at one process's cost: how much, since when, how much is left, how long that lasts. Pure arithmetic on minutes.
import { highest, lowest, MINUTE_MS, type Minute } from '../parts/minutes.ts'
import type { RoomFigure } from './room.ts'

type View = Minute<RoomFigure>
/** What others held before they grew. */
export type Calm = { readonly bytes: number; readonly t: number }
export type Squeeze = {
  readonly calm: Calm
  readonly othersNow: number
  /** By how much others grew since then. */
  readonly grown: number
  /** By how much the process's own need grew since then: floor and peak both. */
  readonly ownGrown: number
  /** The most it ever needed. */
  readonly peak: number
  /** What would be left of the card if it needed its peak again; negative: it no longer fits. */
  readonly left: number
  /** Until nothing is left, where the growth goes on steadily. */
  readonly lastsMs: number | undefined
  /** It gave memory back and took it again lately, or its need varies: one that only sits on what it has is under no pressure. */
  readonly asks: boolean
  /** The least that was free lately: near nothing, each request must be met from what the process gives back itself. */
  readonly free: number
  /** Others have not grown for a while. */
  readonly stalled: boolean
}

/** Length of a level: others that swing have their highest of so long as level. */
const LEVEL = 3
const OWN_WINDOW = 10
/** For so many minutes a swing, and a card that was full, count. */
const RECENT = 30
const STALLED_MINUTES = 20
/** Of the card: differences below are noise of contexts and libraries. */
const NOISE = 0.005
const SWING = 0.01
const UNSTEADY = 0.02
/** Steady growth shows in each third of the time, over so many minutes at least; a step does not, nor what has ended. */
const STEADY_PART = 0.15
const STEADY_MINUTES = 10
/** And is carried on by so many times its length, no further. */
const CARRIED_ON = 1.5

/** The newest time at which others held as little as ever in these minutes. */
export function calmOf(minutes: readonly View[], capacity: number): Calm | undefined {
  let least = Number.POSITIVE_INFINITY
  const levels: Calm[] = []
  for (let at = LEVEL - 1; at < minutes.length - 1; at++) {
    const last = minutes[at]
    if (last === undefined) continue
    const bytes = highest(minutes.slice(at - LEVEL + 1, at + 1), 'others')
    least = Math.min(least, bytes)
    levels.push({ bytes, t: (last.minute + 1) * MINUTE_MS })
  }
  return levels.findLast(({ bytes }) => bytes <= least + NOISE * capacity)
}

/** The most that it gave back and took again: who needs room is who has to ask for it again. A single rise is growth. */
function regained(minutes: readonly View[]): number {
  let top = Number.NEGATIVE_INFINITY
  let floor = Number.POSITIVE_INFINITY
  let most = 0
  for (const { low, high } of minutes) {
    // The floor of earlier minutes only: within one minute the order is not known.
    most = Math.max(most, Math.min(top, high.own) - floor)
    floor = high.own > top ? Number.POSITIVE_INFINITY : Math.min(floor, low.own)
    top = Math.max(top, high.own)
  }
  return most
}
/** How much the most that it needs in a minute differs from minute to minute; known only where a probe reports it apart from what is held. */
function unsteady(minutes: readonly View[]): number {
  const probed = minutes.filter(({ low }) => low.need < low.own)
  return probed.length === 0 ? 0 : highest(probed, 'need') - Math.min(...probed.map(({ high }) => high.need))
}

export function squeezeOf(minutes: readonly View[], peak: number, capacity: number, calm: Calm): Squeeze {
  const othersNow = lowest(minutes.slice(-2), 'others')
  const grown = othersNow - calm.bytes
  const before = minutes.filter(({ minute }) => (minute + 1) * MINUTE_MS <= calm.t).slice(-OWN_WINDOW)
  const since = minutes.filter(({ minute }) => (minute + 1) * MINUTE_MS > calm.t)
  const after = since.slice(-OWN_WINDOW)
  const recent = minutes.slice(-RECENT)
  const ownGrown =
    before.length === 0 || after.length === 0
      ? 0
      : Math.max(0, Math.min(lowest(after, 'need') - lowest(before, 'need'), highest(after, 'need') - highest(before, 'need')))
  const left = capacity - othersNow - peak
  const now = ((minutes.at(-1)?.minute ?? 0) + 1) * MINUTE_MS
  const span = now - calm.t
  const at = (part: number): number => minutes.find(({ minute }) => (minute + 0.5) * MINUTE_MS >= calm.t + part * span)?.low.others ?? Number.NaN
  const thirds = [at(1 / 3) - calm.bytes, at(2 / 3) - at(1 / 3), othersNow - at(2 / 3)]
  const steady = span >= STEADY_MINUTES * MINUTE_MS && thirds.every((part) => part >= STEADY_PART * grown)
  const lastsMs = steady && grown > 0 ? Math.max(0, (left * span) / grown) : undefined
  return {
    calm,
    othersNow,
    grown,
    ownGrown,
    peak,
    left,
    lastsMs: lastsMs !== undefined && lastsMs <= CARRIED_ON * span ? lastsMs : undefined,
    free: lowest(since.slice(-RECENT), 'free'),
    stalled: minutes.length >= STALLED_MINUTES && othersNow - lowest(minutes.slice(-STALLED_MINUTES), 'others') <= NOISE * capacity,
    asks: regained(recent) >= SWING * capacity || unsteady(recent) >= UNSTEADY * capacity,
  }
}
