// One quantity of a card: name, figure, a second figure beside it, and its course over the range.
import { useRef } from 'preact/hooks'
import { PALETTES } from '../charts/palette.ts'
import { noRows, traceRows } from '../charts/stack.ts'
import { createTraceChart } from '../charts/trace-chart.ts'
import { charted } from '../state/charted.ts'
import { theme } from '../state/theme.ts'
import type { Figure as FigureText } from '../text/format.ts'
import { ChartBox } from './chart-box.tsx'
import { Figure } from './figure.tsx'

type Props = {
  readonly name: string
  readonly id: string
  readonly figure: FigureText
  readonly beside?: string | undefined
  readonly why?: string | undefined
  readonly lane: string
  readonly range: readonly [number, number]
}

export function Readout({ name, id, figure, beside, why, lane, range }: Props) {
  const rows = useRef(noRows())
  const limits = useRef(range)
  limits.current = range
  const palette = PALETTES[theme.value]
  const { timeline, range: reach } = charted.value
  const coarse = timeline.step > 1
  return (
    <div class="readout" title={why}>
      <div class="readout-name">{name}</div>
      <div class="readout-figure">
        <Figure figure={figure} name={id} />
        {beside !== undefined && <span class="beside">{beside}</span>}
      </div>
      <ChartBox
        className="trace"
        height={26}
        label={`${name} over the last ${reach.spoken}, now ${figure.value} ${figure.unit}`}
        version={`${theme.value} ${reach.id}`}
        create={(host, width, height) => createTraceChart(host, width, height, { palette, coarse, range: () => limits.current })}
        data={() => traceRows(timeline, lane, rows.current)}
      />
    </div>
  )
}
