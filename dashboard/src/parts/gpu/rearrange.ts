// When the cards are put in order again: as the page comes back into sight, and on a screen that nobody touches, once not all of a sick card is in sight. Under a
// reader's hands no card moves, and for one that can be seen none either. Loaded after the first view.
import { effect, untracked } from '@preact/signals'
import { clock } from '../live/state.ts'
import { arrange } from './arranged.ts'

const UNTOUCHED_MS = 60_000
const TOUCHES = ['pointermove', 'pointerdown', 'keydown', 'wheel'] as const

/** One would have to scroll to see all of it. */
const isOutOfSight = (card: Element): boolean => {
  const { top, bottom } = card.getBoundingClientRect()
  return top < 0 || bottom > innerHeight
}

/** While the overview is open; gives its end. */
export function keepRearranging(): () => void {
  let touchedAt = Date.now()
  const touch = (): void => void (touchedAt = Date.now())
  const back = (): void => {
    if (document.visibilityState === 'visible') arrange()
  }
  for (const type of TOUCHES) addEventListener(type, touch, { passive: true })
  document.addEventListener('visibilitychange', back)
  const stop = effect(() => {
    const sick = clock.value - touchedAt < UNTOUCHED_MS ? [] : Array.from(document.querySelectorAll('.gpu:is([data-trouble], [data-alarm="critical"])'))
    // A node that is moved loses the focus.
    if (sick.some(isOutOfSight) && document.activeElement?.matches('.gpu *') !== true) untracked(arrange)
  })
  return () => {
    stop()
    for (const type of TOUCHES) removeEventListener(type, touch)
    document.removeEventListener('visibilitychange', back)
  }
}
