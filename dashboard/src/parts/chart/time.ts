// What all charts of the page share: the time window, its marks, the pointer that runs through all of them at once, no legend of uPlot's own.
import { dayOfMonth, timeOfDay } from '../../../../agent/text/time.ts'
import type uPlot from 'uplot'
import { hovered } from '../live/state.ts'
import { charted } from '../range/charted.ts'
import type { Palette } from './palette.ts'
import { FONT } from './values.ts'

const window = (): [number, number] => {
  const { range, timeline } = charted.peek()
  return [timeline.end() - range.seconds, timeline.end()]
}
export const xScale: uPlot.Scale = { time: true, range: window }

const DAY = 86_400
const TICKS_S = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, DAY, 2 * DAY, 7 * DAY]
/** Pixels from one mark of the time to the next at the least, and half of a label's width. */
const APART = 62
const HALF = 17

/** Round times of the reader's own zone. */
function splits(plot: uPlot): number[] {
  const [from, to] = window()
  const perPixel = (to - from) / Math.max(1, plot.bbox.width / devicePixelRatio)
  const tick = TICKS_S.find((seconds) => seconds >= perPixel * APART) ?? 14 * DAY
  const zone = new Date(to * 1000).getTimezoneOffset() * 60
  const found: number[] = []
  for (let second = Math.ceil((from - zone) / tick) * tick + zone; second <= to; second += tick) found.push(second)
  return found
}

/** The axis of time. Labels that an edge would cut, or that would touch the scale's zero, are left out. */
export function timeAxis(palette: Palette): uPlot.Axis {
  return {
    size: 18,
    gap: 4,
    font: FONT,
    stroke: palette.axis,
    splits,
    values: (plot, seconds) => {
      const days = seconds.length > 1 && (seconds[1] ?? 0) - (seconds[0] ?? 0) >= DAY
      // Not `clientWidth`, for which the page would be laid out in the middle of drawing.
      const end = plot.bbox.width / devicePixelRatio - HALF
      const fits = (second: number): boolean => plot.valToPos(second, 'x') >= HALF && plot.valToPos(second, 'x') <= end
      return seconds.map((second) => (!fits(second) ? null : days ? dayOfMonth(second * 1000) : timeOfDay(second * 1000)))
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
  // The graticule lies over the areas, as on an instrument's glass. (uPlot's type is a const enum, which cannot be named here.)
  return Object.assign(options, { drawOrder: ['series', 'axes'] })
}
