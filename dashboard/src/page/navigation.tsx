// The views as links; `g` and a letter open them from the keyboard.
import { useEffect, useRef } from 'preact/hooks'
import { hrefOf, route } from '../parts/route.ts'
import { VIEWS } from '../features/index.ts'

const WITHIN_MS = 1_500

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

function useKeys(): void {
  useEffect(() => {
    let pressedAt = Number.NEGATIVE_INFINITY
    const onKey = (event: KeyboardEvent): void => {
      if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'g') pressedAt = event.timeStamp
      else if (event.timeStamp - pressedAt < WITHIN_MS) {
        pressedAt = Number.NEGATIVE_INFINITY
        const view = VIEWS.find(({ key }) => key === event.key)
        if (view !== undefined) location.hash = hrefOf(view.id)
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** On a phone the views stand in a strip that is longer than the screen. */
function showCurrent(strip: HTMLElement | null): void {
  const current = strip?.querySelector<HTMLElement>('[aria-current]')
  if (strip === null || current === null || current === undefined) return
  const middle = current.offsetLeft + current.offsetWidth / 2 - strip.offsetLeft
  strip.scrollLeft = middle - strip.clientWidth / 2
}

/** Which sides of the strip have more to scroll to: it fades there. */
function markCut(strip: HTMLElement): void {
  const { scrollLeft: left, scrollWidth: all, clientWidth: seen } = strip
  strip.dataset['cut'] = `${left > 1 ? 'left' : ''} ${left + seen < all - 1 ? 'right' : ''}`
}

export function Navigation() {
  useKeys()
  const { view } = route.value
  const entry = VIEWS.find(({ id }) => id === view)?.under ?? view
  const strip = useRef<HTMLElement>(null)
  useEffect(() => {
    showCurrent(strip.current)
    if (strip.current !== null) markCut(strip.current)
  }, [entry])
  return (
    <nav class="navigation" aria-label="Pages" ref={strip} onScroll={(event) => markCut(event.currentTarget)}>
      {VIEWS.filter(({ under }) => under === undefined).map(({ id, label, key }) => (
        <a key={id} href={hrefOf(id)} aria-current={id === entry ? 'page' : undefined} title={`g ${key}`}>
          {label}
        </a>
      ))}
    </nav>
  )
}
