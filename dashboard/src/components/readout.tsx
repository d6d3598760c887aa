// One quantity of a card: name, figure, a second figure beside it, and its course over the range.
import { useComputed } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { type Figure as FigureText } from '../../../agent/text/bytes.ts'
import { PALETTES } from '../charts/palette.ts'
import { createColumnBook } from '../charts/columns.ts'
import { traceRows } from '../charts/trace.ts'
import { createTraceChart } from '../charts/trace-chart.ts'
import { charted } from '../state/charted.ts'
import { theme } from '../state/theme.ts'
import { ChartBox } from './chart-box.tsx'
import { LiveFigure } from './figure.tsx'

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
        label={`${name} over the last ${reach.spoken}`}
        version={`${theme.value} ${reach.id}`}
        create={(host, width, height) => createTraceChart(host, width, height, { palette, coarse: timeline.step > 1, range: () => limits.current() })}
        data={(pixelSeconds) => traceRows(timeline, lane, book, Math.ceil(pixelSeconds))}
      />
    </div>
  )
}
