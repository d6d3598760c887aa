// The focus is never lost: when the element that had it goes away, the nearest one around it that is still there takes it, so that Tab goes on from there.
import { effect } from '@preact/signals'
import { clock } from '../../parts/live/state.ts'

/** Innermost first. */
let path: readonly Element[] = []

function pathOf(element: Element | null): readonly Element[] {
  return element === null || element === document.body ? [] : [element, ...pathOf(element.parentElement)]
}

export function keepFocus(): void {
  const [last] = path
  if (last === undefined || last.isConnected || document.activeElement !== document.body) return
  const around = path.find((element) => element.isConnected)
  path = []
  if (!(around instanceof HTMLElement)) return
  if (!around.hasAttribute('tabindex')) around.tabIndex = -1
  around.focus({ preventScroll: true })
}

/** Gives its end. */
export function watchFocus(): () => void {
  const note = ({ target }: FocusEvent): void => void (path = target instanceof Element ? pathOf(target) : [])
  // A reader who clicks beside all controls gives the focus up.
  const giveUp = (): void => void (path = [])
  document.addEventListener('focusin', note)
  addEventListener('pointerdown', giveUp, { passive: true })
  addEventListener('keydown', keepFocus, { capture: true })
  const stop = effect(() => {
    void clock.value
    keepFocus()
  })
  return () => {
    stop()
    document.removeEventListener('focusin', note)
    removeEventListener('pointerdown', giveUp)
    removeEventListener('keydown', keepFocus, { capture: true })
  }
}
