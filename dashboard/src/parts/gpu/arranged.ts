// The cards in their order, sick ones first. They are put in order when the overview opens or the page comes back into sight, and on a screen that nobody
// touches once a sick one stands out of sight; under a reader's hands no card moves, and for one that can be seen none either.
import { effect, signal, untracked } from '@preact/signals'
import { firingOn } from '../incident/known.ts'
import { sickFirst, sickness } from '../live/order.ts'
import { clock, gpus, ready, views } from '../live/state.ts'
import { steadyList } from '../live/steady.ts'

const UNTOUCHED_MS = 60_000
const TOUCHES = ['pointermove', 'pointerdown', 'keydown', 'wheel'] as const

const order = signal<readonly string[]>([])
let touchedAt = Date.now()

function arrange(): void {
  const next = sickFirst(views.peek() ?? [], firingOn)
  if (next.join() !== order.peek().join()) order.value = next
}

/** A sick card that one would have to scroll to. */
function isOutOfSight(): boolean {
  const sick = (views.peek() ?? []).filter((view) => sickness(view, firingOn(view.uuid)) === 0)
  return sick.some(({ index }) => {
    const box = document.getElementById(`gpu-${index}`)?.getBoundingClientRect()
    return box !== undefined && (box.top >= innerHeight || box.bottom <= 0)
  })
}

export const cards = steadyList(() => {
  const place = new Map(order.value.map((uuid, at) => [uuid, at]))
  const placeOf = (uuid: string): number => place.get(uuid) ?? Infinity
  return gpus.value.toSorted((a, b) => placeOf(a.peek().uuid) - placeOf(b.peek().uuid) || a.peek().index - b.peek().index)
})

/** While the overview is open; gives its end. */
export function keepArranged(): () => void {
  const touch = (): void => void (touchedAt = Date.now())
  const back = (): void => {
    if (document.visibilityState === 'visible') arrange()
  }
  touch()
  for (const type of TOUCHES) addEventListener(type, touch, { passive: true })
  document.addEventListener('visibilitychange', back)
  let members: unknown
  const stop = effect(() => {
    if (!ready.value) return // what fires is not known yet
    const listed = gpus.value
    const now = clock.value
    // A node that is moved loses the focus.
    const isFocused = document.activeElement?.matches('.gpu *') === true
    if (members === listed && (now - touchedAt < UNTOUCHED_MS || isFocused || !untracked(isOutOfSight))) return
    members = listed
    untracked(arrange)
  })
  return () => {
    stop()
    for (const type of TOUCHES) removeEventListener(type, touch)
    document.removeEventListener('visibilitychange', back)
  }
}
