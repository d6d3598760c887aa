// Quiet hours: until when a message waits. They go by the clock on the wall of their zone, through changes to and from summer time.
import type { QuietHours } from '../../agent/model/alert-settings.ts'
import { SEVERITIES, type Severity } from '../../agent/model/severity.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Spans that leave no minute of the week are refused by the configuration; whatever comes here ends. */
const LONGEST_MS = 9 * DAY_MS

const MOST_ASKED = 1_000

/** How far a zone's clocks are ahead of UTC at a time, in ms. */
type Ahead = (t: number) => number
const zones = new Map<string | undefined, Ahead>()

function aheadIn(zone: string | undefined): Ahead {
  const known = zones.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    ...(zone === undefined ? {} : { timeZone: zone }),
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  // Asking costs some 20 µs, and all incidents of a storm ask for the same few minutes. Clocks are changed on whole minutes.
  const asked = new Map<number, number>()
  const ahead: Ahead = (t) => {
    const minute = Math.floor(t / MINUTE_MS)
    let found = asked.get(minute)
    if (found !== undefined) return found
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
    for (const { type, value } of format.formatToParts(minute * MINUTE_MS)) parts[type] = Number(value)
    const { year = NaN, month = NaN, day = NaN, hour = NaN, minute: minutes = NaN, second = NaN } = parts
    found = Date.UTC(year, month - 1, day, hour, minutes, second) - minute * MINUTE_MS
    if (asked.size >= MOST_ASKED) asked.clear()
    asked.set(minute, found)
    return found
  }
  zones.set(zone, ahead)
  return ahead
}

export const rankOf = (severity: Severity): number => SEVERITIES.indexOf(severity)

/** How much of a span is left by the clock on the wall, in ms; 0 outside of it. `wall` is that clock read as if it were UTC. */
function leftOf({ from, to, days }: QuietHours, wall: number): number {
  const today = new Date(wall).getUTCDay()
  const sinceMidnight = wall % DAY_MS
  const [begins, ends] = [from * MINUTE_MS, to * MINUTE_MS]
  const overnight = ends <= begins
  if (days.includes(today) && sinceMidnight >= begins && (overnight || sinceMidnight < ends)) return ends - sinceMidnight + (overnight ? DAY_MS : 0)
  return overnight && days.includes((today + 6) % 7) && sinceMidnight < ends ? ends - sinceMidnight : 0
}

/** The first moment after `from`, at the latest `to`, at which the clocks are set otherwise than at `from`. */
function changeBetween(ahead: Ahead, from: number, to: number): number {
  let [before, after] = [from, to]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (ahead(middle) === ahead(from)) before = middle
    else after = middle
  }
  return after
}

/** When those spans of which `t` is inside, and those that follow without a break, are over: `t` itself outside of all of them. */
export function quietUntil(quiet: readonly QuietHours[], severity: Severity, t: number): number {
  const spans = quiet.filter(({ except }) => except === undefined || rankOf(severity) < rankOf(except))
  let until = t
  while (until - t < LONGEST_MS) {
    let next = until
    for (const span of spans) {
      const ahead = aheadIn(span.zone)
      const left = leftOf(span, until + ahead(until))
      if (left === 0) continue
      const end = until + left
      // Where the clocks are changed before the end, it is asked again from there on.
      next = Math.max(next, ahead(end) === ahead(until) ? end : changeBetween(ahead, until, end))
    }
    if (next === until) return until
    until = next
  }
  return until
}
