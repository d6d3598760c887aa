// The axis of values at the right of a chart, and the round numbers at which it ends. Pure.
import type uPlot from 'uplot'
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

/** Of each the half is a short number as well. */
const ROUND = [1, 2, 3, 4, 6, 8, 10] as const

/** The least round number that is not below. */
export function roundTop(value: number, base: 10 | 1024 = 10): number {
  if (!(value > 0)) return 1
  // Bytes are told in KiB, MiB and GiB, and within those in decimals.
  const unit = base === 1024 ? 1024 ** Math.floor(Math.log(value) / Math.log(1024)) : 1
  const power = unit * 10 ** Math.floor(Math.log10(value / unit))
  return power * (ROUND.find((step) => step * power >= value * (1 - 1e-9)) ?? 10)
}

export const FONT = '11px Inter, system-ui, sans-serif'
