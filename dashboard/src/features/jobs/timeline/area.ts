// The outline of what a job held of a card, as an SVG path in a box of 1000 by 100. Pure.
import type { Span } from './spans.ts'

export function areaPath({ steps, from, to, highest }: Pick<Span, 'steps' | 'from' | 'to' | 'highest'>, total: number | undefined): string {
  const top = Math.max(total ?? 0, highest)
  const x = (ms: number): string => (((ms - from) / (to - from)) * 1000).toFixed(1)
  const y = (bytes: number): string => (100 - (bytes / top) * 100).toFixed(1)
  return `M0 100${steps.map((step) => `L${x(step.from)} ${y(step.bytes)}L${x(step.to)} ${y(step.bytes)}`).join('')}L1000 100Z`
}
