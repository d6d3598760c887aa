// How far back the jobs' pages look.
import { range, setRange } from './range.ts'
import { RANGES } from './ranges.ts'
import { RangeButtons } from '../../parts/range/picker.tsx'

export const RangeChoice = () => <RangeButtons ranges={RANGES} now={range.value} label="How far back" onPick={({ id }) => setRange(id)} />
