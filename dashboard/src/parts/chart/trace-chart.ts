// The small charts of a card: one quantity over the same range, without axes, against its limit.
import type uPlot from 'uplot'
import { sharedOptions, xScale } from './time.ts'
import type { Palette } from './palette.ts'
import { newChart } from './uplot.ts'

export type TraceSpec = {
  readonly palette: Palette
  /** Bottom and top of the scale. */
  readonly range: () => readonly [number, number]
  /** Cells of many seconds: the highest of each stands behind the means. */
  readonly coarse: boolean
}

export function createTraceChart(host: HTMLElement, width: number, height: number, spec: TraceSpec): uPlot {
  const { palette } = spec
  // A limit that was lowered must not cut off what was drawn above it before.
  const range: uPlot.Range.Function = (_plot, _low, high) => {
    const [bottom, top] = spec.range()
    return [bottom, Math.max(top, high ?? top)]
  }
  const options: uPlot.Options = {
    ...sharedOptions(),
    width,
    height,
    padding: [1, 0, 1, 0],
    scales: { x: xScale, y: { range } },
    series: [
      {},
      { scale: 'y', stroke: palette.trace, fill: palette.traceFill, width: 1, points: { show: false } },
      ...(spec.coarse ? [{ scale: 'y', stroke: palette.axis, width: 1, points: { show: false } }] : []),
    ],
    axes: [{ show: false }, { show: false }],
  }
  return newChart(options, [[], ...options.series.slice(1).map(() => [])], host)
}
