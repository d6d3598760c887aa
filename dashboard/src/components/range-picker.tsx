// How far back the charts reach: one press, kept in the address.
import { range, RANGES, setRange } from '../state/range.ts'

export function RangePicker() {
  const now = range.value
  return (
    <div class="range-picker" role="group" aria-label="How far back the charts reach">
      {RANGES.map((each) => (
        <button key={each.id} type="button" aria-pressed={each === now} aria-label={`${each.label}, the last ${each.spoken}`} onClick={() => setRange(each)}>
          {each.label}
        </button>
      ))}
    </div>
  )
}
