// Shares, clocks, counts and readings as text, by the unit of the metric (UCUM codes: By, Cel, Hz, W, 1).
import { bytesText } from './bytes.ts'

/** A share from 0 to 1 in whole percent: `42 %`. */
export const percent = (ratio: number): string => `${(100 * ratio).toFixed(0)} %`
/** For parts of a whole where 0 must mean none: `<1 %` for what would round to 0. */
export const percentOrTrace = (ratio: number): string => (ratio > 0 && ratio < 0.005 ? '<1 %' : `${Math.round(ratio * 100)} %`)
/** A part of a whole, with a decimal below ten percent: `<0.1 %`, `3.4 %`, `42 %`. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '0 %'
  const share = (part / whole) * 100
  return `${share > 0 && share < 0.05 ? '<0.1' : share.toFixed(share < 9.95 ? 1 : 0)} %`
}

/** A clock in whole megahertz, as nvidia-smi and NVML count: `1980 MHz`. */
export const megahertz = (hertz: number): string => `${Math.round(hertz / 1e6)} MHz`

/** Parameters of a model: two decimals. `7.24 billion`, `125.00 million`, `1.00 thousand`. */
export function parametersText(count: number): string {
  const [divisor, unit] = count >= 1e9 ? [1e9, 'billion'] : count >= 1e6 ? [1e6, 'million'] : [1e3, 'thousand']
  return `${(count / divisor).toFixed(2)} ${unit}`
}

/** At most so many decimals, none that are 0 at the end. */
const rounded = (value: number, digits: number): string => String(Number(value.toFixed(digits)))

/** A reading in a message: as exact as someone reads it at a glance. `2.00 GiB`, `84 °C`, `42 %`, `1980 MHz`, `412 W`. */
export function figureText(value: number, unit: string): string {
  if (unit === 'By') return bytesText(value)
  if (unit === 'Cel') return `${rounded(value, 0)} °C`
  if (unit === 'Hz') return `${rounded(value / 1e6, 0)} MHz`
  if (unit === '1') return `${rounded(value * 100, 0)} %`
  return `${rounded(value, value < 10 ? 1 : 0)} ${unit.replace(/[{}]/g, '')}`.trimEnd()
}

const SUFFIX: Readonly<Record<string, string>> = { W: ' W', Cel: ' °C', J: ' J', s: ' s', Hz: ' Hz', V: ' V' }
/** A reading beside the threshold that someone configured, so with up to four decimals and ratios as they are: `91 °C`, `1.50 GiB`, `0.97`; a count is alone. */
export function exactFigureText(value: number, unit: string): string {
  if (unit === 'By') return bytesText(value)
  if (unit === 'By/s') return `${bytesText(value)}/s`
  if (unit === 'Hz' && Math.abs(value) >= 1e6) return `${rounded(value / 1e6, 4)} MHz`
  return `${rounded(value, 4)}${SUFFIX[unit] ?? ''}`
}
