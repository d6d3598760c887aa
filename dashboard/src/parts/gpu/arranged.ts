// The cards in their order, sick ones first, as it is when the overview opens; `rearrange.ts` puts them in order again.
import { effect, signal, untracked } from '@preact/signals'
import { firingOn } from '../incident/known.ts'
import { sickFirst } from '../live/order.ts'
import { gpus, ready, views } from '../live/state.ts'
import { steadyList } from '../live/steady.ts'

const order = signal<readonly string[]>([])

export function arrange(): void {
  const next = sickFirst(views.peek() ?? [], firingOn)
  if (next.join() !== order.peek().join()) order.value = next
}

export const cards = steadyList(() => {
  const place = new Map(order.value.map((uuid, at) => [uuid, at]))
  const placeOf = (uuid: string): number => place.get(uuid) ?? Infinity
  return gpus.value.toSorted((a, b) => placeOf(a.peek().uuid) - placeOf(b.peek().uuid) || a.peek().index - b.peek().index)
})

/** While the overview is open: with each GPU that comes or goes. Gives its end. */
export const keepArranged = (): (() => void) =>
  effect(() => {
    void gpus.value
    if (ready.value) untracked(arrange) // before, what fires is not known yet
  })
