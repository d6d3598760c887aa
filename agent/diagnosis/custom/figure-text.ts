// A figure with its unit as a person reads it, by the unit codes (UCUM) of the metrics.
import { bytesText } from '../../lib/bytes.ts'

/** At most four digits after the point, none that say nothing. */
const plain = (value: number): string => String(Number(value.toFixed(4)))

const SUFFIX: Readonly<Record<string, string>> = { W: ' W', Cel: ' °C', J: ' J', s: ' s', Hz: ' Hz', V: ' V' }

/** `91 °C`, `1.50 GiB`, `1980 MHz`, `0.97`; a count stands alone. */
export function figureText(value: number, unit: string): string {
  if (unit === 'By') return bytesText(value)
  if (unit === 'By/s') return `${bytesText(value)}/s`
  if (unit === 'Hz' && Math.abs(value) >= 1e6) return `${plain(value / 1e6)} MHz`
  return `${plain(value)}${SUFFIX[unit] ?? ''}`
}
