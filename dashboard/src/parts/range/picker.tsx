// How far back the charts reach: one press, kept in the address.
import { chartTools } from '../chart/uplot.ts'
import { range, RANGES, setRange } from './range.ts'

type Choice = { readonly id: string; readonly label: string; readonly spoken?: string }
type Props<Each extends Choice> = {
  readonly ranges: readonly Each[]
  readonly now: Each
  readonly label: string
  readonly onPick: (range: Each) => void
}

export function RangeButtons<Each extends Choice>({ ranges, now, label, onPick }: Props<Each>) {
  return (
    <div class="range-picker" role="group" aria-label={label}>
      {ranges.map((each) => (
        <button
          key={each.id}
          type="button"
          aria-pressed={each.id === now.id}
          aria-label={each.spoken === undefined ? undefined : `${each.label}, ${each.spoken}`}
          onClick={() => onPick(each)}
        >
          {each.label}
        </button>
      ))}
    </div>
  )
}

export const RangePicker = () => <RangeButtons ranges={RANGES} now={range.value} label="How far back the charts reach" onPick={setRange} />

/** Room is kept for what is fetched once the charts are there. */
export function ChartControls() {
  const tools = chartTools.value
  return <div class="chart-controls">{tools !== undefined && <tools.Controls />}</div>
}
