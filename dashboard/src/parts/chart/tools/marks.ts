// Draws what happened onto a chart: a line with a triangle for an incident, a dashed one for a restart.
import { effect } from '@preact/signals'
import type uPlot from 'uplot'
import { theme } from '../../theme.ts'
import { PALETTES } from '../palette.ts'
import type { Attached } from './attach.ts'
import { marks, marksFor } from './known-marks.ts'
import type { Mark } from './mark-list.ts'

/** As the page's own colours of a severity (styles/tokens.css), which a canvas does not know. */
const COLOURS = {
  dark: { critical: '#ff7a52', warning: '#efb040', info: '#a9b1b6' },
  light: { critical: '#b8390e', warning: '#8a5a00', info: '#4d555a' },
} as const

function draw(plot: uPlot, found: readonly Mark[]): void {
  const { ctx, bbox } = plot
  const { min = 0, max = 0 } = plot.scales['x'] ?? {}
  const ratio = devicePixelRatio
  const now = theme.peek()
  ctx.save()
  ctx.lineWidth = ratio
  for (const { second, kind } of found) {
    if (second < min || second > max) continue
    const x = Math.round(plot.valToPos(second, 'x', true)) + ratio / 2
    ctx.strokeStyle = ctx.fillStyle = kind === 'restart' ? PALETTES[now].peak : COLOURS[now][kind]
    ctx.setLineDash(kind === 'restart' ? [2 * ratio, 3 * ratio] : [])
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    if (kind === 'restart') continue
    const half = 4 * ratio
    ctx.beginPath()
    ctx.moveTo(x - half, bbox.top)
    ctx.lineTo(x + half, bbox.top)
    ctx.lineTo(x, bbox.top + 1.6 * half)
    ctx.fill()
  }
  ctx.restore()
}

export function drawMarks({ plot, about }: Attached): () => void {
  if (about.length === 0) return () => {}
  const hooks = (plot.hooks.draw ??= [])
  const paint = (): void => draw(plot, marksFor(about))
  // Before what the chart itself draws, so that no line crosses its labels.
  hooks.unshift(paint)
  const end = effect(() => {
    void marks.value
    plot.redraw(false)
  })
  return () => {
    end()
    hooks.splice(hooks.indexOf(paint), 1)
  }
}
