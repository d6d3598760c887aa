// Round local times for the axis of a range, with their words.
import type { Range } from './jobs-ranges.ts'
import { timeOfDay } from '../text/format.ts'

export type Tick = { readonly ms: number; readonly label: string }

const MINUTE_MS = 60_000
const EVERY_MINUTES: Readonly<Record<string, number>> = { '1h': 10, '6h': 60, '24h': 240 }
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' })

/** Days begin at the local midnight, whatever the clocks did. */
export function ticksOf({ id }: Pick<Range, 'id'>, from: number, to: number): readonly Tick[] {
  const start = new Date(from)
  const midnight = (day: number): number => new Date(start.getFullYear(), start.getMonth(), start.getDate() + day).getTime()
  const every = EVERY_MINUTES[id]
  const ticks: Tick[] = []
  if (every === undefined) {
    for (let day = 0; midnight(day) <= to; day++) ticks.push({ ms: midnight(day), label: weekday.format(midnight(day)) })
  } else {
    for (let ms = midnight(0); ms <= to; ms += every * MINUTE_MS) ticks.push({ ms, label: timeOfDay(ms) })
  }
  return ticks.filter(({ ms }) => ms >= from)
}
