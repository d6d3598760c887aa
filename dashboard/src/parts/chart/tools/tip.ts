// Beside the pointer: the time it points at, and what happened there. All charts of a page show the line, the one that is pointed at says when.
import { momentText, zoneName } from '../../../../../agent/text/time.ts'
import { agentNow } from '../../live/state.ts'
import type { Attached } from './attach.ts'
import { marksFor } from './known-marks.ts'
import { near } from './mark-list.ts'

/** And a second at the least, as readings come. */
const NEAR_PX = 5
const MOST = 3

export function showTip({ plot, host, about }: Attached): () => void {
  const ended = new AbortController()
  const tip = document.createElement('div')
  tip.className = 'chart-tip'
  tip.hidden = true
  plot.over.append(tip)
  // Another window makes another chart below the same pointer.
  let here = document.activeElement === host || plot.over.matches(':hover')
  const hide = (): void => {
    here = false
    tip.hidden = true
  }
  const place = (): void => {
    const { left = -1, idx } = plot.cursor
    const second = idx === null || idx === undefined ? undefined : plot.data[0][idx]
    tip.hidden = !here || left < 0 || second === undefined
    if (tip.hidden || second === undefined) return
    const ms = second * 1000
    const perPixel = Math.abs(plot.posToVal(1, 'x') - plot.posToVal(0, 'x'))
    const found = near(marksFor(about), plot.posToVal(left, 'x'), Math.max(1, perPixel * NEAR_PX))
    const lines = [`${momentText(ms, agentNow.peek())} ${zoneName(ms)}`, ...found.slice(0, MOST).map(({ text }) => text)]
    if (found.length > MOST) lines.push(`and ${found.length - MOST} more`)
    const text = lines.join('\n')
    if (tip.textContent !== text) tip.textContent = text
    // On the side where there is room.
    const leftwards = left > plot.over.clientWidth / 2
    tip.style.transform = leftwards ? `translateX(${(left - 8).toFixed(0)}px) translateX(-100%)` : `translateX(${(left + 8).toFixed(0)}px)`
  }
  const hooks = (plot.hooks.setCursor ??= [])
  hooks.push(place)
  const options = { signal: ended.signal }
  plot.over.addEventListener('pointerenter', () => (here = true), options)
  plot.over.addEventListener('pointerleave', () => document.activeElement !== host && hide(), options)
  host.addEventListener('focus', () => (here = true), options)
  host.addEventListener('blur', hide, options)
  return () => {
    ended.abort()
    hooks.splice(hooks.indexOf(place), 1)
    tip.remove()
  }
}
