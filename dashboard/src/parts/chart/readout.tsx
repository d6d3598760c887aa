// One quantity of a card: name, figure, a second figure beside it, and its course over the range as a small chart without axes.
import { type Figure as FigureText } from '../../../../agent/text/bytes.ts'
import { useComputed } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { LiveFigure } from '../figure.tsx'
import { charted } from '../range/charted.ts'
import { theme } from '../theme.ts'
import { ChartBox } from './box.tsx'
import { createColumnBook, traceRows } from './columns.ts'
import { type Palette, PALETTES } from './palette.ts'
import { sharedOptions, xScale } from './time.ts'
import { newChart } from './uplot.ts'

type TraceSpec = {
  readonly palette: Palette
  /** Bottom and top of the scale. */
  readonly range: () => readonly [number, number]
  /** Cells of many seconds: the highest of each is behind the means. */
  readonly coarse: boolean
}

/** A line over the same range as all charts, without axes, against its limit. */
function createTraceChart(host: HTMLElement, width: number, height: number, spec: TraceSpec): uPlot {
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

type Props = {
  readonly name: string
  readonly id: string
  readonly figure: () => FigureText
  readonly beside?: () => string | undefined
  /** Why there is no figure. */
  readonly why?: () => string | undefined
  readonly lane: string
  /** Bottom and top of the chart. */
  readonly range: () => readonly [number, number]
}

function Beside({ text }: { readonly text: () => string | undefined }) {
  const now = useComputed(text)
  return now.value === undefined ? null : <span class="beside">{now.value}</span>
}

export function Readout({ name, id, figure, beside, why, lane, range }: Props) {
  const book = useMemo(createColumnBook, [])
  const reason = useComputed(() => why?.())
  const limits = useRef(range)
  limits.current = range
  const palette = PALETTES[theme.value]
  const { timeline, range: reach } = charted.value
  return (
    <div class="readout" title={reason.value}>
      <div class="readout-name">{name}</div>
      <div class="readout-figure">
        <LiveFigure figure={figure} name={id} />
        {beside !== undefined && <Beside text={beside} />}
      </div>
      <ChartBox
        className="trace"
        height={26}
        label={`${name} over ${reach.spoken}`}
        version={`${theme.value} ${reach.id}`}
        create={(host, width, height) => createTraceChart(host, width, height, { palette, coarse: timeline.step > 1, range: () => limits.current() })}
        data={(pixelSeconds) => traceRows(timeline, lane, book, Math.ceil(pixelSeconds))}
      />
    </div>
  )
}
