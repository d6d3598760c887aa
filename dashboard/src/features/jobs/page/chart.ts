// A chart of one job's readings over a range: some lines against a limit, with the pointer of its neighbours.
import type uPlot from 'uplot'
import { drawLimitLine } from '../../../parts/chart/marks.ts'
import type { Palette } from '../../../parts/chart/palette.ts'
import { newChart } from '../../../parts/chart/uplot.ts'
import { FONT, sideAxis } from '../../../parts/chart/values.ts'
import { ticksOf } from '../ranges.ts'

export type JobChartSpec = {
  readonly palette: Palette
  readonly colours: readonly string[]
  readonly limit: () => number | undefined
  /** The top of the scale. */
  readonly top: () => number
  /** Bytes stand at round GiB. */
  readonly base: 1024 | undefined
  /** Unix ms. */
  readonly span: () => { readonly from: number; readonly to: number }
  readonly valueText: (value: number) => string
  /** The step under the pointer; undefined when it leaves. */
  readonly onPoint: (place: number | undefined) => void
}

export function createJobChart(host: HTMLElement, width: number, height: number, spec: JobChartSpec): uPlot {
  const { palette, colours } = spec
  const seconds = (): [number, number] => [spec.span().from / 1000, spec.span().to / 1000]
  const ticks = () => {
    const { from, to } = spec.span()
    return ticksOf(from, to)
  }
  const options: uPlot.Options = {
    width,
    height,
    padding: [6, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false }, sync: { key: 'job', scales: ['x', null] } },
    scales: { x: { time: true, range: seconds }, y: { range: () => [0, spec.top()] } },
    series: [
      {},
      ...colours.map((stroke) => ({ scale: 'y', stroke, width: 1.5, points: { show: false }, ...(colours.length === 1 && { fill: palette.traceFill }) })),
    ],
    axes: [
      {
        size: 18,
        gap: 4,
        font: FONT,
        stroke: palette.axis,
        splits: () => ticks().map(({ ms }) => ms / 1000),
        values: (plot, splits) => {
          const [low, high] = [plot.scales['x']?.min ?? 0, plot.scales['x']?.max ?? 0]
          const edge = (high - low) * 0.06
          // Every other one where they would touch; none that the edge would cut.
          const step = plot.width / Math.max(1, splits.length) < 46 ? 2 : 1
          const words = new Map(ticks().map(({ ms, label }) => [ms / 1000, label]))
          return splits.map((at, i) => (i % step !== 0 || at - low < edge || high - at < edge ? null : (words.get(at) ?? null)))
        },
        grid: { stroke: palette.grid, width: 1 },
        ticks: { show: false },
      },
      sideAxis({ palette, size: 62, most: 4, top: spec.top, base: spec.base, valueText: spec.valueText }),
    ],
    hooks: {
      draw: [(plot) => drawLimitLine(plot, spec.limit(), palette.peak)],
      setCursor: [
        (plot) => {
          const at = plot.cursor.idx
          spec.onPoint(at === null || at === undefined || (plot.cursor.left ?? -1) < 0 ? undefined : at)
        },
      ],
    },
  }
  return newChart(options, [[], ...colours.map(() => [])], host)
}
