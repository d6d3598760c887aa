// The large chart of a card: GPU memory over the last 15 minutes, stacked by who holds it, against the GPU's total.
import uPlot from 'uplot'
import { gib, timeOfDay } from '../text/format.ts'
import { sharedOptions, xScale } from './common.ts'
import { hatch } from './hatch.ts'
import { mix, type Palette } from './palette.ts'
import type { Layer } from './stack.ts'

const FONT = '11px Inter, system-ui, sans-serif'
const DAYLIGHT = { container: 0.66, host: 0.42 } as const

export type MemoryChartSpec = {
  readonly layers: readonly Layer[]
  readonly palette: Palette
  readonly slotOf: (container: string) => number
  readonly totalBytes: () => number | undefined
  /** The highest memory of the last minute, sampled at 10 Hz by the agent. */
  readonly peakBytes: () => number | undefined
}

export function layerColour(layer: Layer, palette: Palette, slotOf: (container: string) => number): string {
  if (layer.kind === 'container') return palette.containers[slotOf(layer.key) % palette.containers.length] ?? palette.host
  return layer.kind === 'host' ? palette.host : palette.unattributed
}

function series(layer: Layer, spec: MemoryChartSpec): uPlot.Series {
  const { palette } = spec
  const colour = layerColour(layer, palette, spec.slotOf)
  let pattern: CanvasPattern | string | undefined
  const fill =
    layer.kind === 'unattributed'
      ? (plot: uPlot) => (pattern ??= hatch(plot.ctx, mix(colour, palette.surface, 0.6), mix(colour, palette.surface, 0.14)))
      : mix(colour, palette.surface, DAYLIGHT[layer.kind])
  return { scale: 'y', stroke: colour, width: 1, fill, points: { show: false }, pxAlign: 0 }
}

/** The peak as a short stroke over the minute for which it holds. */
function drawPeak(plot: uPlot, spec: MemoryChartSpec): void {
  const peak = spec.peakBytes()
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
    series: [{}, ...spec.layers.toReversed().map((layer) => series(layer, spec))],
    axes: [
      {
        size: 18,
        gap: 4,
        font: FONT,
        stroke: palette.axis,
        incrs: [300],
        space: 10,
        // A label that the left edge would cut is left out: its middle needs about 50 s of room.
        values: (plot, splits) => splits.map((second) => (second - (plot.scales['x']?.min ?? 0) < 50 ? null : timeOfDay(second * 1000))),
        grid: { stroke: palette.grid, width: 1 },
        ticks: { show: false },
      },
      {
        side: 1,
        size: 30,
        gap: 5,
        font: FONT,
        stroke: palette.axis,
        splits: () => [0, 0.25, 0.5, 0.75, 1].map((part) => part * total()),
        values: (_plot, splits) => splits.map((bytes, i) => (i % 2 === 0 && spec.totalBytes() !== undefined ? gib(bytes, 0) : null)),
        grid: { stroke: palette.grid, width: 1 },
        ticks: { show: false },
      },
    ],
    hooks: { ...shared.hooks, draw: [(plot) => drawPeak(plot, spec)] },
  }
  return new uPlot(options, [[], ...spec.layers.map(() => [])], host)
}
