// Which time the allocator's chart shows, as the address says it: the last hours, or a window that does not move.
import { computed } from '@preact/signals'
import { age } from '../../../../../agent/text/span.ts'
import { rangeKey } from '../../../parts/range/range.ts'
import { stepFor } from '../../../parts/range/window.ts'
import { type Span, SPANS, isSpan } from './lanes.ts'

/** As many steps as the other spans have at the most. */
const MOST_STEPS = 900

export const span = computed<Span & { readonly id: string }>(() => {
  const id = rangeKey.value
  const [from = 0, end = NaN] = id.split('-').map(Number)
  const spanS = end - from
  if (spanS > 0) return { id, label: age(spanS), spanS, stepS: stepFor(spanS, MOST_STEPS), end }
  const name = isSpan(id) ? id : '15m'
  return { id: name, ...SPANS[name] }
})

/** After "over". */
export const spanWords = ({ label, end }: Span): string => (end === undefined ? `the last ${label}` : 'the chosen time')
