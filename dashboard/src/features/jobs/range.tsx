// How far back the jobs' pages look, as the address says it.
import { computed } from '@preact/signals'
import { RangeButtons } from '../../parts/range/picker.tsx'
import { route, setParams } from '../../parts/route.ts'
import { type Range, RANGES } from './ranges.ts'

export const range = computed<Range>(() => RANGES.find(({ id }) => id === route.value.params.get('range')) ?? RANGES[0])
const setRange = (id: string): void => setParams({ range: id === RANGES[0].id ? undefined : id })

export const RangeChoice = () => <RangeButtons ranges={RANGES} now={range.value} label="How far back" onPick={({ id }) => setRange(id)} />
