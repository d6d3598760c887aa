// The chart of one process's allocator: what it reserved, stacked by what it is, below the most that it could hold; retries and errors as marks.
import type uPlot from 'uplot'
import { hatch } from '../../../parts/chart/marks.ts'
import { mix, type Palette } from '../../../parts/chart/palette.ts'
import { sharedOptions, timeAxis } from '../../../parts/chart/time.ts'
import { newChart } from '../../../parts/chart/uplot.ts'
import { FONT, roundTop, sideAxis } from '../../../parts/chart/values.ts'
import { memory } from '../../../text/format.ts'
import { type Layer, LAYERS, type Mark } from './lanes.ts'

/** Below the scale would be of parts of a MiB. */
const LEAST_BYTES = 64 * 2 ** 20

export type AllocatorSpec = {
  readonly palette: Palette
  readonly alarm: string
  readonly window: () => readonly [from: number, to: number]
  readonly marks: () => readonly Mark[]
  /** Most that the process can hold, while the past is still fetched: the scale is right before the curve is there. */
  readonly ceiling: () => number | undefined
}

/** Told apart by hue, lightness and texture: what is in use is solid, holes are hatched, cache is pale. */
export const layerColour = (layer: Layer, palette: Palette): string =>
  ({ inUse: palette.containers[0], waiting: palette.containers[3], holes: palette.containers[6], cache: palette.host })[layer] ?? palette.host

function seriesOf(layer: Layer, { palette }: AllocatorSpec): uPlot.Series {
  const colour = layerColour(layer, palette)
  let pattern: CanvasPattern | string | undefined
  const fill =
    layer === 'holes'
      ? (plot: uPlot) => (pattern ??= hatch(plot.ctx, colour, mix(colour, palette.surface, 0.12)))
      : mix(colour, palette.surface, layer === 'cache' ? 0.22 : 0.66)
  return { scale: 'y', stroke: colour, width: 1, fill, points: { show: false }, pxAlign: 0 }
}

/** A retry is a tick at the foot, an error a line through all. */
function drawMarks(plot: uPlot, { marks, alarm, palette }: AllocatorSpec): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.font = FONT.replace('11px', `${11 * ratio}px`)
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  const placeOf = (second: number): number => Math.round(plot.valToPos(second, 'x', true)) + ratio / 2
  const foot = bbox.top + bbox.height
  for (const { second, kind } of marks()) {
    const x = placeOf(second)
    ctx.lineWidth = (kind === 'oom' ? 1 : 2) * ratio
    ctx.strokeStyle = kind === 'oom' ? alarm : palette.peak
    ctx.beginPath()
    ctx.moveTo(x, kind === 'oom' ? bbox.top : foot - 12 * ratio)
    ctx.lineTo(x, foot)
    ctx.stroke()
    if (kind !== 'oom') continue
    const label = 'out of memory'
    const width = ctx.measureText(label).width + 10 * ratio
    const left = x + width <= bbox.left + bbox.width ? x : x - width
    ctx.fillStyle = alarm
    ctx.fillRect(left, bbox.top, width, 17 * ratio)
    ctx.fillStyle = palette.surface
    ctx.fillText(label, left + 5 * ratio, bbox.top + 8.5 * ratio)
  }
  ctx.restore()
}

export function createAllocatorChart(host: HTMLElement, width: number, height: number, spec: AllocatorSpec): uPlot {
  const { palette } = spec
  const shared = sharedOptions()
  const options: uPlot.Options = {
    ...shared,
    width,
    height,
    padding: [6, 0, 0, 0],
    scales: {
      x: { time: true, range: () => [...spec.window()] },
      y: { range: (_plot, _low, high) => [0, roundTop(Math.max(high ?? spec.ceiling() ?? 0, LEAST_BYTES), 1024)] },
    },
    series: [
      {},
      ...LAYERS.toReversed().map((layer) => seriesOf(layer, spec)),
      { scale: 'y', stroke: palette.peak, width: 1.25, dash: [4, 4], points: { show: false } },
    ],
    axes: [timeAxis(palette, spec.window), sideAxis({ palette, size: 62, most: 4, base: 1024, top: (plot) => plot.scales['y']?.max ?? 1, valueText: memory })],
    hooks: { ...shared.hooks, draw: [(plot) => drawMarks(plot, spec)] },
  }
  return newChart(options, [[], ...LAYERS.map(() => []), []], host)
}
