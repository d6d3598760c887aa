// Draws charts at most once per animation frame and only those in sight; a hidden tab draws nothing.
import { effect } from '@preact/signals'
import { drawing } from '../state/app.ts'

const waiting = new Set<() => void>()
let asked = false

function flush(): void {
  asked = false
  const due = [...waiting]
  waiting.clear()
  for (const draw of due) draw()
}

function ask(draw: () => void): void {
  waiting.add(draw)
  if (asked) return
  asked = true
  requestAnimationFrame(flush)
}

/** Calls `draw` whenever the charts' data changed and the element is in sight; returns the end of it. */
export function drawWhileVisible(element: Element, draw: () => void): () => void {
  let visible = false
  // A margin, so that a chart is drawn before it scrolls into sight.
  const observer = new IntersectionObserver(
    (entries) => {
      visible = entries.at(-1)?.isIntersecting ?? false
      if (visible) ask(draw)
    },
    { rootMargin: '240px' },
  )
  observer.observe(element)
  const stop = effect(() => {
    void drawing.value
    if (visible) ask(draw)
  })
  return () => {
    stop()
    observer.disconnect()
    waiting.delete(draw)
  }
}
