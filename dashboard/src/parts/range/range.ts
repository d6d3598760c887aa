// Which time the charts show, as the address says it: the last hours (`?range=6h`), or a window that does not move (`?from=…&to=…`).
import { computed } from '@preact/signals'
import { WINDOW_S } from '../live/timeline.ts'
import { route, setParams } from '../route.ts'
import { stepFor, windowOf } from './window.ts'

export type Range = {
  readonly id: string
  readonly label: string
  /** After "over". */
  readonly spoken: string
  readonly seconds: number
  /** Seconds of a cell on a card, which is some 350 pixels wide, and of one GPU at large. All are steps of the history (agent/store/history/query.ts). */
  readonly step: number
  readonly fine: number
  /** Unix seconds: the end of a window that does not move; undefined: it goes on live. */
  readonly end?: number
}

export const SHORTEST: Range = { id: '15m', label: '15 min', spoken: 'the last 15 minutes', seconds: WINDOW_S, step: 1, fine: 1 }
export const RANGES: readonly Range[] = [
  SHORTEST,
  { id: '1h', label: '1 h', spoken: 'the last hour', seconds: 3_600, step: 10, fine: 5 },
  { id: '6h', label: '6 h', spoken: 'the last 6 hours', seconds: 21_600, step: 60, fine: 30 },
  { id: '24h', label: '24 h', spoken: 'the last 24 hours', seconds: 86_400, step: 300, fine: 120 },
  { id: '7d', label: '7 d', spoken: 'the last 7 days', seconds: 604_800, step: 1_800, fine: 600 },
  { id: '30d', label: '30 d', spoken: 'the last 30 days', seconds: 2_592_000, step: 7_200, fine: 3_600 },
]

/** What the address says: `FROM-TO` of a window, else the name of a range. */
export const rangeKey = computed(() => {
  const found = windowOf(route.value.params)
  return found === undefined ? (route.value.params.get('range') ?? '') : `${found.from}-${found.to}`
})
/** What nobody knows is the shortest. */
export const range = computed((): Range => {
  const id = rangeKey.value
  const [from = 0, end = NaN] = id.split('-').map(Number)
  const seconds = end - from
  if (!(seconds > 0)) return RANGES.find((each) => each.id === id) ?? SHORTEST
  return { id, label: '', spoken: 'the chosen time', seconds, step: stepFor(seconds, 452), fine: stepFor(seconds, WINDOW_S), end }
})
export const setRange = ({ id }: Range): void => setParams({ range: id === SHORTEST.id ? undefined : id, from: undefined, to: undefined })
const given = (name: string): string | undefined => route.value.params.get(name)
/** Links between the overview and a GPU keep the range. */
export const rangeParams = computed(() => ({ range: given('range'), from: given('from'), to: given('to') }))
