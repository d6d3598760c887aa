// Which time the jobs' pages look at, as the address says it: the last hours, or a window that does not move.
import { computed } from '@preact/signals'
import { age } from '../../../../agent/text/span.ts'
import { RangeButtons } from '../../parts/range/picker.tsx'
import { rangeKey } from '../../parts/range/range.ts'
import { stepFor } from '../../parts/range/window.ts'
import { setParams } from '../../parts/route.ts'
import { type Range, RANGES } from './ranges.ts'

/** As many steps as the other ranges have at the most. */
const MOST_STEPS = 361

export const range = computed<Range>(() => {
  const id = rangeKey.value
  const [from = 0, to = NaN] = id.split('-').map(Number)
  const seconds = to - from
  if (!(seconds > 0)) return RANGES.find((each) => each.id === id) ?? RANGES[0]
  return { id, label: age(seconds), ms: seconds * 1000, stepMs: stepFor(seconds, MOST_STEPS) * 1000, end: to * 1000 }
})
const setRange = (id: string): void => setParams({ range: id === RANGES[0].id ? undefined : id, from: undefined, to: undefined })

/** After "in" or "over". */
export const spanWords = ({ label, end }: Range): string => (end === undefined ? `the last ${label === '1 h' ? 'hour' : label}` : 'the chosen time')

export const RangeChoice = () => <RangeButtons ranges={RANGES} now={range.value} label="How far back" onPick={({ id }) => setRange(id)} />
