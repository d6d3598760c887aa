// A chart of one job's readings over a range: some lines against a limit, with the pointer of its neighbours.
import type uPlot from 'uplot'
import { drawLimitLine } from '../../../parts/chart/marks.ts'
import type { Palette } from '../../../parts/chart/palette.ts'
import { newChart } from '../../../parts/chart/uplot.ts'
import { sharedOptions, timeAxis } from '../../../parts/chart/time.ts'
import { sideAxis } from '../../../parts/chart/values.ts'

export type JobChartSpec = {
  readonly palette: Palette
  readonly colours: readonly string[]
  readonly limit: () => number | undefined
  /** The top of the scale. */
  readonly top: () => number
  /** Bytes are at round GiB. */
  readonly base: 1024 | undefined
  /** Unix ms. */
  readonly span: () => { readonly from: number; readonly to: number }
  readonly valueText: (value: number) => string
}

export function createJobChart(host: HTMLElement, width: number, height: number, spec: JobChartSpec): uPlot {
  const { palette, colours } = spec
  const seconds = (): [number, number] => [spec.span().from / 1000, spec.span().to / 1000]
  const shared = sharedOptions()
  const options: uPlot.Options = {
    ...shared,
    width,
    height,
    padding: [6, 0, 0, 0],
    scales: { x: { time: true, range: seconds }, y: { range: () => [0, spec.top()] } },
    series: [
      {},
      ...colours.map((stroke) => ({ scale: 'y', stroke, width: 1.5, points: { show: false }, ...(colours.length === 1 && { fill: palette.traceFill }) })),
    ],
    axes: [timeAxis(palette, seconds), sideAxis({ palette, size: 62, most: 4, top: spec.top, base: spec.base, valueText: spec.valueText })],
    hooks: { ...shared.hooks, draw: [(plot) => drawLimitLine(plot, spec.limit(), palette.peak)] },
  }
  return newChart(options, [[], ...colours.map(() => [])], host)
}
