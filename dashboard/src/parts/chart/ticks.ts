// Where the axes of a chart have their marks: round times of the reader's own zone, and round figures. Pure.
import { dayOfMonth, timeOfDay, timeWithSeconds } from '../../../../agent/text/time.ts'

const DAY = 86_400
const TICKS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, DAY, 2 * DAY, 7 * DAY, 14 * DAY]

/** Round times between two Unix seconds, at least `apart` seconds from each other. */
export function timeTicks(from: number, to: number, apart: number): number[] {
  const tick = TICKS_S.find((seconds) => seconds >= apart) ?? Math.ceil(apart / DAY) * DAY
  const zone = new Date(to * 1000).getTimezoneOffset() * 60
  const found: number[] = []
  for (let second = Math.ceil((from - zone) / tick) * tick + zone; second <= to; second += tick) found.push(second)
  return found
}

/** What is at such a mark: the day at midnight, or where marks are days apart. */
export function tickText(second: number, apart: number): string {
  const ms = second * 1000
  if (apart < 60) return timeWithSeconds(ms)
  const time = timeOfDay(ms)
  return apart >= DAY || time === '00:00' ? dayOfMonth(ms) : time
}

const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 10] as const

/** Round figures from 0 to the top, at most so many above 0, and where three may be there no fewer than two. Bytes are round in KiB, MiB or GiB. */
export function roundTicks(top: number, most: number, base: 10 | 1024 = 10): number[] {
  if (!(top > 0)) return [0]
  const least = top / most
  const unit = base === 1024 ? 1024 ** Math.floor(Math.log(top) / Math.log(1024)) : 1
  const power = unit * 10 ** Math.floor(Math.log10(least / unit))
  const fits = power * (STEPS.find((each) => each * power >= least * (1 - 1e-9)) ?? 10)
  const half = power * (STEPS.findLast((each) => each * power <= (top / 2) * (1 + 1e-9)) ?? 1)
  const step = most > 2 ? Math.min(fits, half) : fits
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => i * step)
}
