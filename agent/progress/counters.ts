// Counters without a name on a line: which of them counts the steps, which the epochs.
import type { Field } from './fields.ts'
import type { Figures } from './record.ts'

/** Between the counter of the epochs and that of the steps: brackets and a share. */
const NEAR = 16

/** `Epoch: 14 [41/14656] [41984/15007744]`: the second counts what so many steps held. */
const holds = (steps: Field, things: Field): boolean =>
  steps.value > 0 && things.value > steps.value && things.value / steps.value === (things.total ?? 0) / (steps.total ?? 1)

/** `[25/250`, `(3/300)`: a counter without a name counts the steps, or the epochs where it says so. Of two in a row (`[2/25][100/1583]`) the first counts the epochs. */
export function takeCounter(out: Figures, counters: readonly Field[]): void {
  // `1 of 1` of something counts no work.
  const usable = counters.filter(
    ({ total, value, key }) => total !== undefined && total > 0 && value <= total && !(key === '' && total === 1) && !/\b(?:epoch|ep)s?$/.test(key),
  )
  // In brackets behind a metric: how many were right.
  const open = usable.filter(({ aside }) => !aside)
  const [first, second] = open.length > 0 ? open : usable
  const nested =
    first !== undefined && second !== undefined && second.key === '' && second.from - first.to < NEAR && !(out.epoch !== undefined && holds(first, second))
  const counter = nested ? second : first
  if (counter?.total === undefined) return
  if (nested && out.epoch === undefined) {
    out.epoch = first.value
    if (first.total !== undefined) out.epochs ??= first.total
  }
  out.step = counter.value
  out.total = counter.total
  if (counter.key === '') out.stepIsBare = true
}
