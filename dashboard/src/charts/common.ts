// What all charts of the page share: the time window, the pointer that runs through all of them at once, no legend of uPlot's own.
import type uPlot from 'uplot'
import { hovered, timeline } from '../state/app.ts'
import { WINDOW_S } from '../state/timeline.ts'

export const xScale: uPlot.Scale = { time: true, range: () => [timeline.end() - WINDOW_S, timeline.end()] }

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
