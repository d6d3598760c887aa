// How far back the jobs' pages look, as the address says it.
import { computed } from '@preact/signals'
import { RANGES, type Range } from './ranges.ts'
import { route, setParams } from '../../parts/route.ts'

export const range = computed<Range>(() => RANGES.find(({ id }) => id === route.value.params.get('range')) ?? RANGES[0])
export const setRange = (id: string): void => setParams({ range: id === RANGES[0].id ? undefined : id })
