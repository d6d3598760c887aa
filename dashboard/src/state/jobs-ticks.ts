// Round local times for the axis of a range, with their words.
import { timeOfDay } from '../../../agent/text/time.ts'

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
