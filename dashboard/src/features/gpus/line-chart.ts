// A chart of one GPU at large: lines over the range against a limit; behind coarse means the highest of each step.
import type uPlot from 'uplot'
import { drawLimitLine } from '../../parts/chart/marks.ts'
import { mix, type Palette } from '../../parts/chart/palette.ts'
import { sharedOptions, timeAxis, xScale } from '../../parts/chart/time.ts'
import { newChart } from '../../parts/chart/uplot.ts'
import { roundTop, sideAxis } from '../../parts/chart/values.ts'

export type LineSpec = {
  readonly palette: Palette
  readonly colours: readonly string[]
  /** The least that the scale reaches up to; what is higher widens it. */
  readonly top: () => number
  readonly limit: () => number | undefined
  readonly valueText: (value: number) => string
  readonly coarse: boolean
  /** Bytes end and are at round GiB. */
  readonly base?: 1024 | undefined
}

export function createLineChart(host: HTMLElement, width: number, height: number, spec: LineSpec): uPlot {
  const { palette, colours, coarse } = spec
  const shared = sharedOptions()
  const line = (colour: string, i: number): uPlot.Series => ({
    scale: 'y',
    stroke: colour,
    width: 1.25,
    points: { show: false },
    ...(i === 0 && { fill: palette.traceFill }),
  })
  const peak = (colour: string): uPlot.Series => ({ scale: 'y', stroke: mix(colour, palette.surface, 0.5), width: 1, points: { show: false } })
  const hex = (colour: string): string => (colour.startsWith('#') ? colour : palette.trace)
  const options: uPlot.Options = {
    ...shared,
    width,
    height,
    padding: [6, 0, 0, 0],
    scales: { x: xScale, y: { range: (_plot, _low, high) => [0, roundTop(Math.max(spec.top(), high ?? 0), spec.base)] } },
    series: [{}, ...colours.map(line), ...(coarse ? colours.map((colour) => peak(hex(colour))) : [])],
    axes: [timeAxis(palette), sideAxis({ palette, size: 58, most: 4, top: (plot) => plot.scales['y']?.max ?? 1, valueText: spec.valueText, base: spec.base })],
    hooks: { ...shared.hooks, draw: [(plot) => drawLimitLine(plot, spec.limit(), palette.axis)] },
  }
  return newChart(options, [[], ...options.series.slice(1).map(() => [])], host)
}
