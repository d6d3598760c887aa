// What all charts of the page share: the time window, its marks, the pointer that runs through all of them at once, no legend of uPlot's own.
import type uPlot from 'uplot'
import { hovered } from '../live/state.ts'
import { charted } from '../range/charted.ts'
import type { Palette } from './palette.ts'
import { tickText, timeTicks } from './ticks.ts'
import { FONT } from './values.ts'

const window = (): [number, number] => {
  const { range, timeline } = charted.peek()
  return [timeline.end() - range.seconds, timeline.end()]
}
export const xScale: uPlot.Scale = { time: true, range: window }

/** Pixels from one mark of the time to the next at the least, and half of a label's width. */
const APART = 62
const HALF = 17

const splits = (plot: uPlot, [from, to]: readonly [number, number]): number[] =>
  timeTicks(from, to, ((to - from) / Math.max(1, plot.bbox.width / devicePixelRatio)) * APART)

/** The axis of time. Labels that an edge would cut, or that would touch the scale's zero, are left out. */
export function timeAxis(palette: Palette, span: () => readonly [number, number] = window): uPlot.Axis {
  return {
    size: 18,
    gap: 4,
    font: FONT,
    stroke: palette.axis,
    splits: (plot) => splits(plot, span()),
    values: (plot, seconds) => {
      const apart = (seconds[1] ?? 0) - (seconds[0] ?? 0)
      // Not `clientWidth`, for which the page would be laid out in the middle of drawing.
      const half = apart < 60 ? HALF + 8 : HALF
      const end = plot.bbox.width / devicePixelRatio - half
      return seconds.map((second) => {
        const at = plot.valToPos(second, 'x')
        return at < half || at > end ? null : tickText(second, apart)
      })
    },
    grid: { stroke: palette.grid, width: 1 },
    ticks: { show: false },
  }
}

export function sharedOptions(): Pick<uPlot.Options, 'legend' | 'cursor' | 'hooks' | 'drawOrder'> {
  const options: Pick<uPlot.Options, 'legend' | 'cursor' | 'hooks' | 'drawOrder'> = {
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false, setScale: false },
      sync: { key: 'time', scales: ['x', null] },
    },
    hooks: {
      setCursor: [
        (plot) => {
          const at = plot.cursor.idx
          const second = at === null || at === undefined || (plot.cursor.left ?? -1) < 0 ? undefined : plot.data[0]?.[at]
          hovered.value = second ?? undefined
        },
      ],
    },
  }
  // The graticule is over the areas, as on an instrument's glass. (uPlot's type is a const enum, which cannot be named here.)
  return Object.assign(options, { drawOrder: ['series', 'axes'] })
}
