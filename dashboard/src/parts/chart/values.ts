// The axis of values at the right of a chart, with marks at round figures, and the round numbers at which a scale ends. Pure.
import type uPlot from 'uplot'
import type { Palette } from './palette.ts'
import { roundTicks } from './ticks.ts'

type SideSpec = {
  readonly palette: Palette
  readonly size: number
  /** So many marks above 0 at the most. */
  readonly most: number
  readonly top: (plot: uPlot) => number
  readonly valueText: (value: number) => string
  /** Bytes are at round GiB. */
  readonly base?: 10 | 1024 | undefined
  /** Of what is counted: there is no half of it. */
  readonly whole?: boolean | undefined
}

/** Without the zeros at the end of a fraction: none says 0.50 beside 1.5. */
export const shortest = (text: string): string => text.replace(/\.0+(?= |$)|(\.\d*[1-9])0+(?= |$)/, '$1')

export function sideAxis({ palette, size, most, top, valueText, base, whole = false }: SideSpec): uPlot.Axis {
  return {
    side: 1,
    size,
    gap: 5,
    font: FONT,
    stroke: palette.axis,
    splits: (plot) => roundTicks(top(plot), most, base).filter((value) => !whole || Number.isInteger(value)),
    values: (_plot, splits) => splits.map((value) => (value === 0 ? '0' : shortest(valueText(value)))),
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
