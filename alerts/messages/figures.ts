// Times, figures and series as people read them, in plain text.
import { bytesText } from '../../agent/lib/bytes.ts'
import type { Spark } from '../../agent/model/notification.ts'

/** Whoever is woken may be in any zone, so the zone is named. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
export const clockText = (ms: number): string => new Date(ms).toISOString().slice(11, 19)

/** In the two largest units. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const two = (big: number, bigUnit: string, small: number, smallUnit: string): string => `${big} ${bigUnit}${small === 0 ? '' : ` ${small} ${smallUnit}`}`
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  if (seconds < 86_400) return two(Math.floor(seconds / 3_600), 'h', Math.floor((seconds % 3_600) / 60), 'min')
  return two(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3_600), 'h')
}

const rounded = (value: number, digits: number): string => String(Number(value.toFixed(digits)))

/** By the unit of the metric's declaration (UCUM). */
export function figureText(value: number, unit: string): string {
  if (unit === 'By') return bytesText(value)
  if (unit === 'Cel') return `${rounded(value, 0)} °C`
  if (unit === 'Hz') return `${rounded(value / 1e6, 0)} MHz`
  if (unit === '1') return `${rounded(value * 100, 0)} %`
  return `${rounded(value, value < 10 ? 1 : 0)} ${unit.replace(/[{}]/g, '')}`.trimEnd()
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const
const NOTHING_READ = '·'

/** Less than a twentieth of a figure is no movement: drawn large it would look like one. */
const LEAST_SPAN = 0.05

/** One character for each value: shares from 0 to 1, all else from the lowest to the highest. */
export function sparkline(values: readonly (number | null)[], unit = ''): string {
  const known = values.filter((value) => value !== null)
  const highest = Math.max(...known)
  const low = unit === '1' ? 0 : Math.min(...known)
  const span = unit === '1' ? Math.max(1, highest) : Math.max(highest - low, Math.abs(highest) * LEAST_SPAN)
  return values
    .map((value) => (value === null ? NOTHING_READ : (BARS[span === 0 ? 0 : Math.round(((value - low) / span) * (BARS.length - 1))] ?? NOTHING_READ)))
    .join('')
}

/** What is drawn, over how long, and between which figures. */
export function sparkText({ title, unit, from, to, values }: Spark): { readonly title: string; readonly line: string } {
  const known = values.filter((value) => value !== null)
  const [low, high] = [figureText(Math.min(...known), unit), figureText(Math.max(...known), unit)]
  return { title: `${title}, the ${spanText(to - from)} before`, line: `${sparkline(values, unit)}  ${low === high ? low : `${low} to ${high}`}` }
}
