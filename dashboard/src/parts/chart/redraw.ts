// Draws charts at most once per animation frame, only those in sight, and with the ticks only as often as it can be seen; a hidden tab draws nothing.
import { effect } from '@preact/signals'
import { drawing, frame } from '../live/state.ts'

/** Nothing new waits longer, however many seconds a pixel is; the figure beside the chart has it at once. */
const SLOWEST_TICKS = 10
/** A move of fewer cannot be told from none; the figures beside the chart go on each second. */
const PIXELS = 3
/** Charts of one pace take turns, so that each tick has its share of the work. */
let turns = 0

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

/**
 * Calls `draw` while the element is in sight: at once when history came or time ran out, and with the frames each time that the
 * chart has moved by `PIXELS`, of which one takes `pixelSeconds`. Returns the end of it.
 */
export function drawWhileVisible(element: Element, draw: () => void, pixelSeconds: () => number): () => void {
  let visible = false
  let ticks = turns++
  let last = frame.peek()
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
    const ticked = frame.value !== last
    last = frame.value
    if (ticked) ticks += 1
    const pace = Math.min(SLOWEST_TICKS, Math.max(1, Math.floor(PIXELS * pixelSeconds())))
    if (visible && (!ticked || ticks % pace === 0)) ask(draw)
  })
  return () => {
    stop()
    observer.disconnect()
    waiting.delete(draw)
  }
}
