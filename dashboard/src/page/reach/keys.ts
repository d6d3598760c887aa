// The keyboard anywhere on the page: Ctrl+K, ?, /, `g` and a letter. Not while one types, but for Ctrl+K.
import { hrefOf } from '../../parts/route.ts'
import { VIEWS } from '../../features/index.ts'
import { openDialog } from './opened.ts'

const WITHIN_MS = 1_500
const FILTER = 'main input[type="search"]'

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

/** The filter of the view, where it has one; else the palette, which finds everything. */
function filter(): void {
  const field = document.querySelector<HTMLInputElement>(FILTER)
  if (field === null) openDialog.value = 'palette'
  else field.select()
}

const SINGLE: Readonly<Record<string, () => void>> = {
  '/': filter,
  '?': () => (openDialog.value = 'shortcuts'),
  ',': () => (openDialog.value = 'settings'),
}

/** Gives its end. */
export function watchKeys(): () => void {
  let pressedAt = Number.NEGATIVE_INFINITY
  const onKey = (event: KeyboardEvent): void => {
    const { key, timeStamp } = event
    if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      event.preventDefault()
      openDialog.value = openDialog.peek() === 'palette' ? undefined : 'palette'
      return
    }
    if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey || openDialog.peek() !== undefined) return
    const single = SINGLE[key]
    if (key === 'g') pressedAt = timeStamp
    else if (timeStamp - pressedAt < WITHIN_MS) {
      pressedAt = Number.NEGATIVE_INFINITY
      const view = VIEWS.find((each) => each.key === key)
      if (view !== undefined) location.hash = hrefOf(view.id)
    } else if (single !== undefined) {
      event.preventDefault()
      single()
    }
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}
