// How figures read to a person: GiB, W, °C, GHz, local times with the zone, ages. What is not known reads as a dash.

export const DASH = '–'
const KIB = 1024
const MIB = KIB * 1024
const GIB = MIB * 1024

/** A figure and its unit apart, so that the unit can be set smaller. */
export type Figure = { readonly value: string; readonly unit: string }
export const NO_FIGURE: Figure = { value: DASH, unit: '' }

const fixed = (value: number, digits: number): string => value.toFixed(digits)

/** GPU and host memory: GiB with one decimal from 1 GiB on, MiB below. */
export function memoryFigure(bytes: number | undefined): Figure {
  if (bytes === undefined) return NO_FIGURE
  const size = Math.abs(bytes)
  if (size >= 0.9995 * GIB) return { value: fixed(bytes / GIB, size >= 999.5 * GIB ? 0 : 1), unit: 'GiB' }
  if (size >= MIB || size === 0) return { value: fixed(bytes / MIB, 0), unit: 'MiB' }
  return { value: fixed(bytes / KIB, 0), unit: 'KiB' }
}

export function memory(bytes: number | undefined): string {
  const { value, unit } = memoryFigure(bytes)
  return unit === '' ? value : `${value} ${unit}`
}

/** GiB without the unit, for axes and places that name the unit once. */
export const gib = (bytes: number, digits = 1): string => fixed(bytes / GIB, digits)

export const percentFigure = (ratio: number | undefined): Figure => (ratio === undefined ? NO_FIGURE : { value: fixed(ratio * 100, 0), unit: '%' })
export const percent = (ratio: number | undefined): string => (ratio === undefined ? DASH : `${fixed(ratio * 100, 0)} %`)
export const wattsFigure = (watts: number | undefined): Figure => (watts === undefined ? NO_FIGURE : { value: fixed(watts, 0), unit: 'W' })
export const celsiusFigure = (celsius: number | undefined): Figure => (celsius === undefined ? NO_FIGURE : { value: fixed(celsius, 0), unit: '°C' })

export function clock(hertz: number | undefined): string {
  if (hertz === undefined) return DASH
  return hertz >= 1e9 ? `${fixed(hertz / 1e9, 2)} GHz` : `${fixed(hertz / 1e6, 0)} MHz`
}

export function cores(value: number | undefined): string {
  if (value === undefined) return DASH
  return fixed(value, value < 0.995 ? 2 : 1)
}

/** An age or duration in the two largest units. */
export function age(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`
}

const pad = (value: number): string => String(value).padStart(2, '0')

/** Local time of day, HH:MM. */
export function timeOfDay(ms: number): string {
  const date = new Date(ms)
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
/** Local day, `16 Nov`. Without Intl, whose first use takes longer than all else before the page shows its figures. */
export function dayOfMonth(ms: number): string {
  const date = new Date(ms)
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`
}

/** Local time of day, HH:MM:SS. */
export function timeWithSeconds(ms: number): string {
  return `${timeOfDay(ms)}:${pad(new Date(ms).getSeconds())}`
}

/** The time of day, with the date before it when it is not today's. */
export function since(ms: number, nowMs: number): string {
  const date = new Date(ms)
  const sameDay = date.toDateString() === new Date(nowMs).toDateString()
  return sameDay ? timeOfDay(ms) : `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${timeOfDay(ms)}`
}

/** The local zone as its distance from UTC: `UTC+1`, `UTC-3:30`. */
export function zoneName(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${pad(rest)}`}`
}

/** Indices as people write them: 0–3, 6. */
export function indexRanges(indices: readonly number[]): string {
  const sorted = [...new Set(indices)].sort((a, b) => a - b)
  const parts: string[] = []
  for (let i = 0; i < sorted.length;) {
    let end = i
    while (end + 1 < sorted.length && sorted[end + 1] === (sorted[end] ?? 0) + 1) end++
    const [first, last] = [sorted[i], sorted[end]]
    parts.push(end === i ? `${first}` : `${first}${end === i + 1 ? ', ' : '–'}${last}`)
    i = end + 1
  }
  return parts.join(', ')
}

/** A span ahead, roughly: `20 min`, `3.5 h`, `2 d`. */
export function spanAhead(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  if (seconds < 36_000) return `${(seconds / 3_600).toFixed(1)} h`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

export function rateFigure(bytesPerSecond: number | undefined): Figure {
  if (bytesPerSecond === undefined) return NO_FIGURE
  if (bytesPerSecond >= 1e9) return { value: fixed(bytesPerSecond / 1e9, bytesPerSecond >= 1e11 ? 0 : 1), unit: 'GB/s' }
  return { value: fixed(bytesPerSecond / 1e6, bytesPerSecond >= 1e7 || bytesPerSecond === 0 ? 0 : 1), unit: 'MB/s' }
}
