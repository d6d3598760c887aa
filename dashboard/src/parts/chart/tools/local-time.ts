// Times as a field for local date and time has them. Pure.
const pad = (value: number): string => String(value).padStart(2, '0')

/** `2026-05-01T12:30:05`. */
export function localInput(second: number): string {
  const date = new Date(second * 1000)
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}T${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

export function localSecond(text: string): number | undefined {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? new Date(text).getTime() : NaN
  return Number.isNaN(ms) ? undefined : Math.round(ms / 1000)
}
