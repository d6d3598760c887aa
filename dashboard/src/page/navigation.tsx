// The views as links; `g` and a letter open them from the keyboard (reach/keys.ts).
import { useEffect, useRef } from 'preact/hooks'
import { hrefOf, route } from '../parts/route.ts'
import { VIEWS } from '../features/index.ts'

/** On a phone the views are in a strip that is longer than the screen. */
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
