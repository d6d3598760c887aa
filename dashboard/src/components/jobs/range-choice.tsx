// How far back to look: a row of buttons of which one is pressed.
import { range, setRange } from '../../state/jobs-range.ts'
import { RANGES } from '../../state/jobs-ranges.ts'

export function RangeChoice() {
  return (
    <div class="ranges" role="group" aria-label="How far back">
      {RANGES.map(({ id, label }) => (
        <button key={id} type="button" aria-pressed={range.value.id === id} onClick={() => setRange(id)}>
          {label}
        </button>
      ))}
    </div>
  )
}
