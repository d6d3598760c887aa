// When something held: one lane a reason, filled while it holds; over coarse cells as dark as its share of them.
import type uPlot from 'uplot'
import type { Palette } from '../../parts/chart/palette.ts'
import { sharedOptions, timeAxis, xScale } from '../../parts/chart/time.ts'
import { newChart } from '../../parts/chart/uplot.ts'

export const LANE_HEIGHT = 18
export type BandSpec = { readonly palette: Palette; readonly colours: readonly string[]; readonly step: number }

function drawBands(plot: uPlot, { colours, step, palette }: BandSpec): void {
  const { ctx, bbox, data } = plot
  const ratio = devicePixelRatio
  const height = bbox.height / Math.max(1, colours.length)
  const [seconds = []] = data
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  for (const [lane, colour] of colours.entries()) {
    const top = bbox.top + lane * height
    ctx.fillStyle = palette.grid
    ctx.fillRect(bbox.left, Math.round(top + height) - ratio, bbox.width, ratio)
    ctx.fillStyle = colour
    for (const [i, share] of (data[lane + 1] ?? []).entries()) {
      if (share === null || share === undefined || share <= 0) continue
      const second = seconds[i] ?? 0
      const left = Math.round(plot.valToPos(second - step, 'x', true))
      ctx.globalAlpha = 0.25 + 0.75 * Math.min(1, share)
      // On whole pixels, or neighbours would leave a seam; at the least one, so that a single second can be seen.
      ctx.fillRect(left, top + 4 * ratio, Math.max(ratio, Math.round(plot.valToPos(second, 'x', true)) - left), height - 8 * ratio)
    }
    ctx.globalAlpha = 1
  }
  ctx.restore()
}

export function createBandChart(host: HTMLElement, width: number, height: number, spec: BandSpec): uPlot {
  const shared = sharedOptions()
  const options: uPlot.Options = {
    ...shared,
    width,
    height,
    padding: [0, 0, 0, 0],
    scales: { x: xScale, y: { range: () => [0, 1] } },
    series: [{}, ...spec.colours.map((): uPlot.Series => ({ scale: 'y', paths: () => null, points: { show: false } }))],
    // As wide as in the other charts, so that the times are below each other.
    axes: [timeAxis(spec.palette), { side: 1, size: 58, values: () => [], grid: { show: false }, ticks: { show: false } }],
    hooks: { ...shared.hooks, draw: [(plot) => drawBands(plot, spec)] },
  }
  return newChart(options, [[], ...spec.colours.map(() => [])], host)
}
