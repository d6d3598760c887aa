// What is drawn onto a chart beside its values: the line of a limit, and the hatching of memory that nobody owns, which is told from the rest by its texture.
import type uPlot from 'uplot'

/** A dashed line at a value that must not be passed; none where it is above the scale. */
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

/** A canvas pattern of lines that rise or fall; the plain ground where a pattern cannot be made. */
export function hatch(context: CanvasRenderingContext2D, line: string, ground: string, falling = false): CanvasPattern | string {
  const ratio = Math.max(1, Math.round(devicePixelRatio))
  const size = 6 * ratio
  const tile = document.createElement('canvas')
  tile.width = tile.height = size
  const pen = tile.getContext('2d')
  if (pen === null) return ground
  pen.fillStyle = ground
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = line
  pen.lineWidth = ratio
  pen.beginPath()
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, falling ? 0 : size)
    pen.lineTo(shift + size, falling ? size : 0)
  }
  pen.stroke()
  return context.createPattern(tile, 'repeat') ?? ground
}
