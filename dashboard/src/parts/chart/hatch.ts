// The hatching of memory that nobody owns: told from the rest by its texture, not by its hue alone.

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
