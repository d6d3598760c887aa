// The large chart of a card: GPU memory over the range, stacked by who holds it, against the GPU's total.
import type uPlot from 'uplot'
import { MIB } from '../../../../agent/text/bytes.ts'
import { gib } from '../../text/format.ts'
import { hatch } from '../chart/marks.ts'
import { mix, type Palette } from '../chart/palette.ts'
import { sharedOptions, timeAxis, xScale } from '../chart/time.ts'
import { roundTicks } from '../chart/ticks.ts'
import { newChart } from '../chart/uplot.ts'
import { FONT } from '../chart/values.ts'
import type { Layer } from './stack.ts'

/** Parts of a layer's colour over the ground: what is kept without being used is paler than what is used. */
const DAYLIGHT = { container: 0.66, cache: 0.3, host: 0.42 } as const
/** Line and ground of the hatched ones: memory that nobody can have, or that nobody owns. */
const HATCHED = { stranded: [0.8, 0.3], unattributed: [0.6, 0.14] } as const

export type MemoryChartSpec = {
  readonly layers: readonly Layer[]
  readonly palette: Palette
  readonly slotOf: (container: string) => number
  readonly totalBytes: () => number | undefined
  /** The highest memory of the last minute, sampled at 10 Hz by the agent. */
  readonly peakBytes: () => number | undefined
  /** Cells of many seconds: the highest of each is drawn as a line over the means. */
  readonly coarse: boolean
}

export function layerColour(layer: Layer, palette: Palette, slotOf: (container: string) => number): string {
  if (layer.members !== undefined) return palette.host
  if (layer.kind !== 'host' && layer.kind !== 'unattributed') return palette.containers[slotOf(layer.key) % palette.containers.length] ?? palette.host
  return layer.kind === 'host' ? palette.host : palette.unattributed
}

function series(layer: Layer, probed: boolean, spec: MemoryChartSpec): uPlot.Series {
  const { palette } = spec
  const colour = layerColour(layer, palette, spec.slotOf)
  const { kind } = layer
  let pattern: CanvasPattern | string | undefined
  let fill: uPlot.Series['fill']
  if (kind === 'stranded' || kind === 'unattributed') {
    const [line, ground] = HATCHED[kind]
    fill = (plot) => (pattern ??= hatch(plot.ctx, mix(colour, palette.surface, line), mix(colour, palette.surface, ground), kind === 'unattributed'))
  } else fill = mix(colour, palette.surface, DAYLIGHT[kind])
  // A line bounds what belongs to someone; within it, tone and texture distinguish the parts.
  const inner = kind === 'stranded' || (kind === 'container' && probed)
  return {
    scale: 'y',
    stroke: inner ? mix(colour, palette.surface, DAYLIGHT.container) : colour,
    width: inner ? 0 : 1,
    fill,
    points: { show: false },
    pxAlign: 0,
  }
}

/** The peak as a short stroke over the minute for which it holds. */
function drawPeak(plot: uPlot, spec: MemoryChartSpec): void {
  const peak = spec.coarse ? undefined : spec.peakBytes()
  const end = plot.scales['x']?.max
  if (peak === undefined || end === undefined) return
  const { ctx } = plot
  const y = plot.valToPos(peak, 'y', true)
  ctx.save()
  ctx.strokeStyle = spec.palette.peak
  ctx.lineWidth = 1.5 * devicePixelRatio
  ctx.beginPath()
  ctx.moveTo(plot.valToPos(end - 60, 'x', true), y)
  ctx.lineTo(plot.valToPos(end, 'x', true), y)
  ctx.stroke()
  ctx.restore()
}

export function createMemoryChart(host: HTMLElement, width: number, height: number, spec: MemoryChartSpec): uPlot {
  const { palette } = spec
  const shared = sharedOptions()
  // Without a total the highest of the window is the top.
  let highest = 1
  const total = (): number => spec.totalBytes() ?? highest
  const options: uPlot.Options = {
    ...shared,
    width,
    height,
    padding: [6, 0, 0, 0],
    scales: { x: xScale, y: { range: (_plot, _low, high) => [0, Math.max((highest = high ?? 1), total())] } },
    series: [
      {},
      ...spec.layers.map((layer, i) => series(layer, spec.layers[i + 1]?.kind === 'stranded', spec)).toReversed(),
      ...(spec.coarse ? [{ scale: 'y', stroke: palette.peak, width: 1, points: { show: false } }] : []),
    ],
    axes: [
      timeAxis(palette),
      {
        side: 1,
        size: 30,
        gap: 5,
        font: FONT,
        stroke: palette.axis,
        // Nothing is known yet: no scale, rather than fractions of a byte.
        splits: () => (total() < MIB ? [0] : roundTicks(total(), 4, 1024)),
        values: (_plot, splits) => splits.map((bytes) => gib(bytes, bytes % 2 ** 30 === 0 ? 0 : 1)),
        grid: { stroke: palette.grid, width: 1 },
        ticks: { show: false },
      },
    ],
    hooks: { ...shared.hooks, draw: [(plot) => drawPeak(plot, spec)] },
  }
  return newChart(options, [[], ...options.series.slice(1).map(() => [])], host)
}
