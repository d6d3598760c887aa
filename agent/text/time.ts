// Moments as text. Times in UTC are for terminals, messages and reports, whose readers may be in any zone; local times are for the dashboard.
// All take Unix milliseconds.

/** `2026-05-01 03:12:07`: for a table whose head names the zone. */
export const utcStamp = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
/** `2026-05-01 03:12:07 UTC`. */
export const utcText = (ms: number): string => `${utcStamp(ms)} UTC`
/** `2026-05-01 03:12 UTC`: for what nobody needs to the second, such as the end of a silence. */
export const utcMinuteText = (ms: number): string => `${utcStamp(ms).slice(0, 16)} UTC`
/** `03:12:07`, UTC: where the day is beside it. */
export const utcClock = (ms: number): string => utcStamp(ms).slice(11)
/** `2026-05-01T03:12:07Z`, with milliseconds only when there are some: for reports that programs may read. */
export const isoText = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

let inUtc = false
/** From now on "local" times are UTC: for a reader of the dashboard who wants the times of logs and colleagues elsewhere. */
export function showUtc(on: boolean): void {
  inUtc = on
}
/** A date whose local fields are those of the zone that is shown. */
const wallClock = (ms: number): Date => new Date(inUtc ? ms + new Date(ms).getTimezoneOffset() * 60_000 : ms)

const pad = (value: number): string => String(value).padStart(2, '0')

/** Minutes since midnight as `HH:MM`. */
export const clockOfDay = (minutes: number): string => `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`

/** Local time of day, `HH:MM`. */
export function timeOfDay(ms: number): string {
  const date = wallClock(ms)
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`
}

/** Local time of day, `HH:MM:SS`. */
export const timeWithSeconds = (ms: number): string => `${timeOfDay(ms)}:${pad(wallClock(ms).getSeconds())}`

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
/** Local day, `16 Nov`. Without Intl, whose first use takes longer than all else before the page shows its figures. */
export function dayOfMonth(ms: number): string {
  const date = wallClock(ms)
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`
}

/** `2026-11-20 `, or nothing when the local day is the same as that of `nowMs`. */
function dayBefore(ms: number, nowMs: number): string {
  const date = wallClock(ms)
  return date.toDateString() === wallClock(nowMs).toDateString() ? '' : `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} `
}
/** Local time of day, `HH:MM`, with the date before it when it is not today's. */
export const since = (ms: number, nowMs: number): string => `${dayBefore(ms, nowMs)}${timeOfDay(ms)}`
/** Local time of day, `HH:MM:SS`, with the date before it when it is not today's. */
export const momentText = (ms: number, nowMs: number): string => `${dayBefore(ms, nowMs)}${timeWithSeconds(ms)}`

/** The local zone as its distance from UTC: `UTC+1`, `UTC-3:30`. */
export function zoneName(ms: number): string {
  const minutes = inUtc ? 0 : -new Date(ms).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${pad(rest)}`}`
}
