// How far back the jobs' pages look.
import { range, setRange } from '../../state/jobs-range.ts'
import { RANGES } from '../../state/jobs-ranges.ts'
import { RangeButtons } from '../range-picker.tsx'

export const RangeChoice = () => <RangeButtons ranges={RANGES} now={range.value} label="How far back" onPick={({ id }) => setRange(id)} />
