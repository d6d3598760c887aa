// How far back the charts reach, as the address says it (`?range=6h`).
import { computed } from '@preact/signals'
import { WINDOW_S } from '../live/timeline.ts'
import { route, setParams } from '../route.ts'

export type Range = {
  readonly id: string
  readonly label: string
  /** After "the last". */
  readonly spoken: string
  readonly seconds: number
  /** Seconds of a cell on a card, which is some 350 pixels wide, and of one GPU at large. All are steps of the history (agent/store/history/query.ts). */
  readonly step: number
  readonly fine: number
}

export const SHORTEST: Range = { id: '15m', label: '15 min', spoken: '15 minutes', seconds: WINDOW_S, step: 1, fine: 1 }
export const RANGES: readonly Range[] = [
  SHORTEST,
  { id: '1h', label: '1 h', spoken: 'hour', seconds: 3_600, step: 10, fine: 5 },
  { id: '6h', label: '6 h', spoken: '6 hours', seconds: 21_600, step: 60, fine: 30 },
  { id: '24h', label: '24 h', spoken: '24 hours', seconds: 86_400, step: 300, fine: 120 },
  { id: '7d', label: '7 d', spoken: '7 days', seconds: 604_800, step: 1_800, fine: 600 },
  { id: '30d', label: '30 d', spoken: '30 days', seconds: 2_592_000, step: 7_200, fine: 3_600 },
]

/** What nobody knows is the shortest. */
export const range = computed(() => RANGES.find(({ id }) => id === route.value.params.get('range')) ?? SHORTEST)
export const setRange = ({ id }: Range): void => setParams({ range: id === SHORTEST.id ? undefined : id })
/** Links between the overview and a GPU keep the range. */
export const rangeParams = computed(() => (range.value === SHORTEST ? {} : { range: range.value.id }))
