// The keys of a chart that has the focus: arrows go from reading to reading, with Shift they move the window, + and - zoom, Space pauses, Escape goes back.
import type { Attached } from './attach.ts'
import { back, canZoom, goLive, move, pause, still, zoom, zooms } from './zoom.ts'

const STEP_PX = 4

export function takeKeys({ plot, host }: Attached): () => void {
  const ended = new AbortController()
  host.setAttribute('aria-keyshortcuts', 'ArrowLeft ArrowRight Shift+ArrowLeft Shift+ArrowRight + - Space Escape')
  const left = (): number | undefined => {
    const at = plot.cursor.left ?? -1
    return at < 0 ? undefined : at
  }
  const point = (at: number): void => plot.setCursor({ left: Math.min(plot.over.clientWidth - 1, Math.max(0, at)), top: 10 })
  const secondAt = (): number | undefined => {
    const at = left()
    return at === undefined ? undefined : plot.posToVal(at, 'x')
  }
  const step = (sign: number, fast: boolean): void => {
    if (fast) move(sign / 4)
    else point((left() ?? (sign > 0 ? -STEP_PX : plot.over.clientWidth + STEP_PX)) + sign * STEP_PX)
  }
  const keys: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    ArrowLeft: ({ shiftKey }) => step(-1, shiftKey),
    ArrowRight: ({ shiftKey }) => step(1, shiftKey),
    Home: () => point(0),
    End: () => point(plot.over.clientWidth),
    '+': () => zoom(0.5, secondAt()),
    '=': () => zoom(0.5, secondAt()),
    '-': () => zoom(2, secondAt()),
    ' ': () => canZoom() && (still.peek() === undefined ? pause() : goLive()),
    Escape: () => {
      if (left() !== undefined) plot.setCursor({ left: -10, top: -10 })
      else if (zooms.peek() > 0) back()
    },
  }
  host.addEventListener(
    'keydown',
    (event) => {
      if (event.target !== host || event.ctrlKey || event.metaKey || event.altKey) return
      const take = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
      if (take === undefined) return
      event.preventDefault()
      event.stopPropagation()
      take(event)
    },
    { signal: ended.signal },
  )
  host.addEventListener('blur', () => plot.setCursor({ left: -10, top: -10 }), { signal: ended.signal })
  return () => {
    ended.abort()
    host.removeAttribute('aria-keyshortcuts')
  }
}
