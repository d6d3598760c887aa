// How far back the jobs' pages can look, in which steps of history, and the round times on the axis of such a range.
import { timeOfDay } from '../../../../agent/text/time.ts'

const HOUR_MS = 3_600_000
export type Range = {
  readonly id: string
  /** After "in the". */
  readonly label: string
  readonly ms: number
  readonly stepMs: number
  /** Unix ms: of a window that does not move. */
  readonly end?: number
}
/** Steps are those of the store (agent/store/history/query.ts): about 350 in each range. */
export const RANGES: readonly [Range, ...Range[]] = [
  { id: '1h', label: '1 h', ms: HOUR_MS, stepMs: 10_000 },
  { id: '6h', label: '6 h', ms: 6 * HOUR_MS, stepMs: 60_000 },
  { id: '24h', label: '24 h', ms: 24 * HOUR_MS, stepMs: 300_000 },
  { id: '7d', label: '7 d', ms: 7 * 24 * HOUR_MS, stepMs: 1_800_000 },
]

/** From, to and points of a question for history. */
export function spanQuery({ ms, stepMs }: Range, endMs: number): string {
  const to = Math.floor(endMs)
  // One step more at either end, or the store takes coarser ones.
  return `from=${to - ms}&to=${to}&points=${Math.ceil(ms / stepMs) + 2}`
}

export type Tick = { readonly ms: number; readonly label: string }

const MINUTE_MS = 60_000
const EVERY_MINUTES = [1, 2, 5, 10, 20, 30, 60, 120, 240]
/** More would touch each other. */
const MOST = 6
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' })

/** Days begin at the local midnight, whatever the clocks did. */
export function ticksOf(from: number, to: number): readonly Tick[] {
  const start = new Date(from)
  const midnight = (day: number): number => new Date(start.getFullYear(), start.getMonth(), start.getDate() + day).getTime()
  const every = EVERY_MINUTES.find((minutes) => (to - from) / (minutes * MINUTE_MS) <= MOST)
  const ticks: Tick[] = []
  if (every === undefined) {
    for (let day = 0; midnight(day) <= to; day++) ticks.push({ ms: midnight(day), label: weekday.format(midnight(day)) })
  } else {
    for (let ms = midnight(0); ms <= to; ms += every * MINUTE_MS) ticks.push({ ms, label: timeOfDay(ms) })
  }
  return ticks.filter(({ ms }) => ms >= from)
}
