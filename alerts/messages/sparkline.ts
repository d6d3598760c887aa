// A series as one line of plain text.
import type { Spark } from '../../agent/model/notification.ts'
import { figureText } from '../../agent/text/figures.ts'
import { twoUnitSpan } from '../../agent/text/span.ts'

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
  return { title: `${title}, the ${twoUnitSpan(to - from)} before`, line: `${sparkline(values, unit)}  ${low === high ? low : `${low} to ${high}`}` }
}
