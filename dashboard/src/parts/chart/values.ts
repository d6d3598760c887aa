// The axis of values at the right of a chart.
import type uPlot from 'uplot'
import { FONT } from './time.ts'
import type { Palette } from './palette.ts'

type SideSpec = {
  readonly palette: Palette
  readonly size: number
  /** Of the whole: where lines are drawn; every other one has words where there are five. */
  readonly parts: readonly number[]
  readonly top: (plot: uPlot) => number
  readonly valueText: (value: number) => string
}

export const HALVES = [0, 0.5, 1] as const
export const QUARTERS = [0, 0.25, 0.5, 0.75, 1] as const

export function sideAxis({ palette, size, parts, top, valueText }: SideSpec): uPlot.Axis {
  const every = parts.length > 3 ? 2 : 1
  return {
    side: 1,
    size,
    gap: 5,
    font: FONT,
    stroke: palette.axis,
    splits: (plot) => parts.map((part) => part * top(plot)),
    values: (_plot, splits) => splits.map((value, i) => (i % every !== 0 ? null : value === 0 ? '0' : valueText(value))),
    grid: { stroke: palette.grid, width: 1 },
    ticks: { show: false },
  }
}
