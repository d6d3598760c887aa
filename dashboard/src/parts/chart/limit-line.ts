// A dashed line across a chart at a value that must not be passed.
import type uPlot from 'uplot'

export function drawLimitLine(plot: uPlot, value: number | undefined, colour: string): void {
  if (value === undefined || value > (plot.scales['y']?.max ?? 0)) return
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  const y = Math.round(plot.valToPos(value, 'y', true)) + ratio / 2
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = ratio
  ctx.setLineDash([4 * ratio, 4 * ratio])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.restore()
}
