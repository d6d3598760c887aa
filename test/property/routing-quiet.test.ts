// Quiet hours against a slow reference that asks the wall clock each minute, in zones that change their clocks by an hour, by half of one, at midnight, or by a day.
import * as fc from '../setup/fast-check.ts'
import { expect, test } from 'vitest'
import type { QuietHours } from '../../agent/model/alert-settings.ts'
import { SEVERITIES, type Severity } from '../../agent/model/severity.ts'
import { quietUntil } from '../../alerts/routing/quiet.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

const clocks = new Map<string, Intl.DateTimeFormat>()
/** Day of the week and minutes since midnight, as a clock on the wall there shows them. */
function wall(zone: string, t: number): { readonly day: number; readonly minutes: number } {
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  clocks.set(zone, clock)
  const [, day = '', hour, minute] = /^(\w{3})\D+(\d\d):(\d\d)$/.exec(clock.format(t)) ?? []
  return { day: DAYS.indexOf(day), minutes: Number(hour) * 60 + Number(minute) }
}
function isQuiet(quiet: readonly QuietHours[], severity: Severity, t: number): boolean {
  return quiet.some(({ from, to, days, zone = 'UTC', except }) => {
    if (except !== undefined && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(except)) return false
    const { day, minutes } = wall(zone, t)
    const before = (day + 6) % 7
    if (to > from) return days.includes(day) && minutes >= from && minutes < to
    return (days.includes(day) && minutes >= from) || (days.includes(before) && minutes < to)
  })
}

/** Each with days on which its clocks are changed. */
const ZONES = [
  ['Europe/Berlin', '2026-03-29', '2026-10-25'],
  ['America/New_York', '2026-03-08', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05', '2026-10-04'],
  ['America/Santiago', '2026-04-05', '2026-09-06'],
  ['Asia/Beirut', '2026-03-29', '2026-10-25'],
  ['Africa/Casablanca', '2026-02-15', '2026-03-22'],
  ['Antarctica/Troll', '2026-03-29', '2026-10-25'],
  ['Asia/Kolkata', '2026-06-01'],
  // The 30th of December 2011 did not happen there.
  ['Pacific/Apia', '2011-12-30'],
] as const

const minuteOfDay = fc.oneof(fc.nat({ max: 1_439 }), fc.constantFrom(0, 60, 90, 120, 150, 180, 1_380, 1_410))
const span = (zone: string): fc.Arbitrary<QuietHours> =>
  fc
    .record({
      from: minuteOfDay,
      to: fc.oneof(minuteOfDay, fc.constant(1_440)),
      days: fc.oneof(fc.constant([0, 1, 2, 3, 4, 5, 6]), fc.uniqueArray(fc.nat({ max: 6 }), { minLength: 1, maxLength: 6 })),
      except: fc.constantFrom<Severity | undefined>(undefined, undefined, 'critical', 'warning'),
    })
    .map(({ except, ...rest }) => ({ ...rest, zone, ...(except === undefined ? {} : { except }) }))
const scene = fc.constantFrom(...ZONES).chain(([zone, ...days]) =>
  fc.record({
    quiet: fc.array(fc.oneof({ weight: 6, arbitrary: span(zone) }, { weight: 1, arbitrary: span('Asia/Kolkata') }), { minLength: 1, maxLength: 3 }),
    severity: fc.constantFrom(...SEVERITIES),
    t: fc
      .tuple(fc.constantFrom(...days), fc.integer({ min: -40 * 60, max: 64 * 60 }), fc.nat({ max: MINUTE - 1 }))
      .map(([day, minutes, ms]) => Date.parse(`${day}T00:00Z`) + minutes * MINUTE + ms),
  }),
)

test('they end when the clock on the wall says so', () => {
  fc.assert(
    fc.property(scene, ({ quiet, severity, t }) => {
      const until = quietUntil(quiet, severity, t)
      let slow = t
      // Clocks are changed on whole minutes.
      while (slow - t < 9 * DAY && isQuiet(quiet, severity, slow)) slow = Math.floor(slow / MINUTE) * MINUTE + MINUTE
      // Where no minute of the week is left they end all the same.
      expect(slow - t < 9 * DAY ? until : until - t >= 9 * DAY).toEqual(slow - t < 9 * DAY ? slow : true)
    }),
    { numRuns: 300 },
  )
})

test('the days above are those on which the clocks change', () => {
  const shown = (zone: string, t: number): number => {
    const { day, minutes } = wall(zone, t)
    return day * 1_440 + minutes
  }
  const changes = ZONES.flatMap(([zone, ...days]) => days.map((day) => [zone, day] as const)).filter(([zone, day]) => {
    const t = Date.parse(`${day}T12:00Z`)
    return (shown(zone, t + DAY) - shown(zone, t - DAY) + 7 * 1_440) % (7 * 1_440) === 2 * 1_440
  })
  expect(changes).toEqual([['Asia/Kolkata', '2026-06-01']])
})
