// How long something took or will take, as text. `duration.ts` has the form of configuration files (`90s`, `4h`).
import { counted } from './grammar.ts'

const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

type TwoUnits = readonly [amount: number, unit: string, rest: number, restUnit: string]
/** Whole seconds in their two largest units; undefined below a minute. */
function twoUnits(seconds: number): TwoUnits | undefined {
  if (seconds < MINUTE_S) return undefined
  if (seconds < HOUR_S) return [Math.floor(seconds / MINUTE_S), 'min', seconds % MINUTE_S, 's']
  if (seconds < DAY_S) return [Math.floor(seconds / HOUR_S), 'h', Math.floor((seconds % HOUR_S) / MINUTE_S), 'min']
  return [Math.floor(seconds / DAY_S), 'd', Math.floor((seconds % DAY_S) / HOUR_S), 'h']
}

/** For messages: rounded to seconds, in the two largest units, the second left out when it is 0. `45 s`, `1 h`, `2 h 5 min`. */
export function twoUnitSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const units = twoUnits(seconds)
  if (units === undefined) return `${seconds} s`
  const [amount, unit, rest, restUnit] = units
  return rest === 0 ? `${amount} ${unit}` : `${amount} ${unit} ${rest} ${restUnit}`
}

/** An age that ticks on the page: rounded down, always both units, so that its width stays. `5 min 0 s`. */
export function age(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const units = twoUnits(whole)
  return units === undefined ? `${whole} s` : `${units[0]} ${units[1]} ${units[2]} ${units[3]}`
}

/** The whole length of a recording, exact to the second: `1 h 2 min 3 s`, `850 ms`; units that are 0 are left out. */
export function exactSpan(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / HOUR_S), 'h'],
    [Math.floor(seconds / MINUTE_S) % 60, 'min'],
    [seconds % MINUTE_S, 's'],
  ]
  const shown = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount} ${unit}`)
  return shown.length === 0 ? `${ms} ms` : shown.join(' ')
}

/** For verdicts: one unit, rounded, at least 1; units change where those of `roughSpan` do. `35 s`, `12 min`, `3 h`. */
export function spanText(ms: number): string {
  const [amount, unit] = ms < 119_500 ? [ms / 1_000, 's'] : ms < 7_170_000 ? [ms / 60_000, 'min'] : [ms / 3_600_000, 'h']
  return `${Math.max(1, Math.round(amount))} ${unit}`
}

/** From a shorter to a longer time, the unit once where both have it: `3–18 min`, `40 s to 2 min`. */
export function rangeText(from: number, to: number): string {
  const [least, most] = [roughSpan(from), roughSpan(to)]
  const unit = / \S+$/.exec(most)?.[0] ?? ''
  if (least === most) return most
  return least.endsWith(unit) ? `${least.slice(0, -unit.length)}–${most}` : `${least} to ${most}`
}

/** For what was measured over a time: one unit, whole minutes below 2 h, then hours and from 48 h on days with one decimal. `90 s`, `18 min`, `3.4 h`, `2.1 days`. */
export function roughSpan(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000))
  if (seconds < 2 * MINUTE_S) return `${seconds} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 120) return `${minutes} min`
  const hours = ms / 3_600_000
  return hours < 48 ? `${hours.toFixed(1)} h` : `${(hours / 24).toFixed(1)} days`
}

/** For a forecast, which is not known more exactly: `45 s`, `20 min`, `3.5 h`, `14 h`, `2 d`. */
export function spanAhead(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`
  if (seconds < 5_400) return `${Math.round(seconds / MINUTE_S)} min`
  if (seconds < 36_000) return `${(seconds / HOUR_S).toFixed(1)} h`
  return seconds < 2 * DAY_S ? `${Math.round(seconds / HOUR_S)} h` : `${Math.round(seconds / DAY_S)} d`
}

/** How long ago, as exactly as it helps: `90 s ago`, `35 min ago`, `20 h ago`, `3 days ago`. */
export function agoText(seconds: number): string {
  if (seconds < 2 * MINUTE_S) return `${Math.max(0, Math.round(seconds))} s ago`
  if (seconds < 2 * HOUR_S) return `${Math.round(seconds / MINUTE_S)} min ago`
  return seconds < 2 * DAY_S ? `${Math.round(seconds / HOUR_S)} h ago` : `${Math.round(seconds / DAY_S)} days ago`
}

/** A deadline or a wait in seconds: one decimal below 10 s. `2.5 s`, `30 s`. */
export const secondsText = (ms: number): string => `${ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1_000)} s`

/** The time that a piece of work took: whole milliseconds below 1 s, then seconds with one decimal. `< 1 ms`, `12 ms`, `1.4 s`. */
export function tookText(ms: number): string {
  if (ms < 0.5) return '< 1 ms'
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** GPU time that was lost: `1 GPU second`, `90 GPU seconds`, `45 GPU minutes`, `3.2 GPU hours`. */
export function gpuTimeText(seconds: number): string {
  if (seconds < 2 * MINUTE_S) return counted(Math.round(seconds), 'GPU second')
  return seconds < 2 * HOUR_S ? `${Math.round(seconds / MINUTE_S)} GPU minutes` : `${(seconds / HOUR_S).toFixed(1)} GPU hours`
}
