// A chart of the readings around a fault: lines against a limit, with what happened when, and the second that is looked at.
import { timeWithSeconds } from '../../../../../agent/text/time.ts'
import type uPlot from 'uplot'
import type { Palette } from '../../../parts/chart/palette.ts'
import { timeTicks } from '../../../parts/chart/ticks.ts'
import { newChart } from '../../../parts/chart/uplot.ts'
import { FONT, sideAxis } from '../../../parts/chart/values.ts'
import type { EvidenceChart, Mark } from './charts.ts'
import type { EvidenceLine, Window } from './lines.ts'

const LABEL_HEIGHT = 17

/** Pixels of half an `HH:MM:SS`. */
const HALF_LABEL = 27
/** Between the curves and the figures of the axis beside them. */
const GAP_PX = 3

export type EvidenceSpec = {
  readonly chart: EvidenceChart
  readonly window: Window
  /** The second of the fault. */
  readonly fault: number
  readonly marks: readonly Mark[]
  readonly palette: Palette
  readonly alarm: string
  readonly colourOf: (line: EvidenceLine, place: number) => string
  readonly valueText: (value: number) => string
  /** The second under the pointer; undefined when it leaves. */
  readonly onPoint: (second: number | undefined) => void
  readonly onPick: (second: number) => void
}

/** The top of the scale: the limit where it is of the size of what was read, so that nearness to it can be seen; a little air above. */
export function topOf({ limit, lines, unit }: EvidenceChart): number {
  const highest = Math.max(0, ...lines.map((line) => line.highest))
  const top = limit === undefined || highest < limit.value * 0.02 ? highest : Math.max(limit.value, highest)
  return unit === 'ratio' ? Math.max(1, top) : top <= 0 ? 1 : top
}

function drawMarks(plot: uPlot, { marks, chart, alarm, palette }: EvidenceSpec): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  ctx.font = FONT.replace('11px', `${11 * ratio}px`)
  ctx.lineWidth = ratio
  if (chart.limit !== undefined && topOf(chart) >= chart.limit.value) {
    const y = Math.round(plot.valToPos(chart.limit.value, 'y', true)) + ratio / 2
    ctx.strokeStyle = palette.peak
    ctx.setLineDash([4 * ratio, 4 * ratio])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
    ctx.setLineDash([])
  }
  ctx.strokeStyle = alarm
  const places = marks.map(({ second, label }) => ({ x: Math.round(plot.valToPos(second, 'x', true)) + ratio / 2, label }))
  for (const { x } of places) {
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  const high = LABEL_HEIGHT * ratio
  // Above the lines, not over them.
  const top = bbox.top - high
  let taken = bbox.left
  for (const [place, { x, label }] of chart.large ? places.entries() : []) {
    if (label === undefined) continue
    const width = ctx.measureText(label).width + 10 * ratio
    const next = places.slice(place + 1).find((other) => other.label !== undefined)?.x ?? Number.POSITIVE_INFINITY
    // Above the scale there is room too.
    const end = bbox.left + bbox.width + 40 * ratio
    // Beside the future, where the next one leaves room; else beside the past; else the line alone stands.
    const left = x >= taken && x + width <= Math.min(end, next) ? x : x - width >= taken ? x - width : x >= taken && x + width <= end ? x : undefined
    if (left === undefined) continue
    taken = left + width
    ctx.fillStyle = alarm
    ctx.fillRect(left, top, width, high)
    ctx.fillStyle = palette.surface
    ctx.fillText(label, left + 5 * ratio, top + high / 2)
  }
  ctx.restore()
}

/** Follows the pointer; a touch or a click picks the second. */
function listen(plot: uPlot, { window: { from, to }, onPoint, onPick }: EvidenceSpec): void {
  const secondOf = (event: PointerEvent): number => Math.min(to, Math.max(from, Math.round(plot.posToVal(event.offsetX, 'x'))))
  plot.over.addEventListener('pointermove', (event) => event.pointerType === 'mouse' && onPoint(secondOf(event)))
  plot.over.addEventListener('pointerleave', () => onPoint(undefined))
  plot.over.addEventListener('pointerup', (event) => onPick(secondOf(event)))
}

export function createEvidenceChart(host: HTMLElement, width: number, height: number, spec: EvidenceSpec): uPlot {
  const { chart, palette, window } = spec
  const top = topOf(chart)
  const options: uPlot.Options = {
    width,
    height,
    padding: [chart.large ? LABEL_HEIGHT + 2 : 6, 0, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: true, range: () => [window.from, window.to] }, y: { range: () => [0, top * 1.02] } },
    series: [
      {},
      ...chart.lines.map((line, place) => {
        const colour = spec.colourOf(line, place)
        const main = line.kind === 'main'
        return { scale: 'y', stroke: colour, width: main ? 1.25 : 1.5, points: { show: false }, ...(main && { fill: palette.traceFill }) }
      }),
    ],
    axes: [
      {
        size: 18,
        gap: 4,
        font: FONT,
        stroke: palette.axis,
        splits: () => timeTicks(window.from, window.to, chart.large ? 30 : 60),
        // What an edge would cut is left out, and what would meet the 0 of the other axis.
        values: (plot, splits) =>
          splits.map((second) => {
            const at = plot.valToPos(second, 'x')
            return at < HALF_LABEL || at + HALF_LABEL > plot.bbox.width / devicePixelRatio + GAP_PX ? null : timeWithSeconds(second * 1000)
          }),
        grid: { stroke: palette.grid, width: 1 },
        ticks: { show: false },
      },
      sideAxis({
        palette,
        size: 62,
        // Of a share the half and the whole.
        most: chart.large ? 5 : chart.unit === 'ratio' ? 2 : 3,
        base: chart.unit === 'bytes' ? 1024 : 10,
        whole: chart.unit === 'count',
        top: () => top,
        valueText: spec.valueText,
      }),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, spec)] },
  }
  const seconds = Array.from({ length: window.to - window.from + 1 }, (_, i) => window.from + i)
  const plot = newChart(options, [seconds, ...chart.lines.map((line) => [...line.values])], host)
  listen(plot, spec)
  return plot
}
