// The pointer on a chart: dragging chooses a window, with Shift or by touch it moves the window, Ctrl and the wheel zoom, a double click goes a step back.
import type { Attached } from './attach.ts'
import { back, canZoom, move, show, zoom, zooms } from './zoom.ts'

/** A hand that trembles chooses nothing. */
const LEAST_PX = 6

export function takeGestures({ plot, host }: Attached): () => void {
  const { over } = plot
  const ended = new AbortController()
  const on = <Name extends keyof HTMLElementEventMap>(name: Name, take: (event: HTMLElementEventMap[Name]) => void): void =>
    over.addEventListener(name, take, { signal: ended.signal, passive: false })
  const box = document.createElement('div')
  box.className = 'chart-brush'
  box.hidden = true
  over.append(box)
  host.classList.add('has-tools')

  let began: { readonly x: number; readonly pans: boolean; readonly id: number } | undefined
  const leave = (): void => {
    began = undefined
    box.hidden = true
    over.classList.remove('panning')
  }
  // Within the area of the plot, wherever the pointer is.
  const placeOf = (event: PointerEvent): number => Math.min(over.clientWidth, Math.max(0, event.clientX - over.getBoundingClientRect().left))

  on('pointerdown', (event) => {
    if (!canZoom() || event.button !== 0) return
    began = { x: placeOf(event), pans: event.shiftKey || event.pointerType === 'touch', id: event.pointerId }
  })
  on('pointermove', (event) => {
    if (began?.id !== event.pointerId) return
    const x = placeOf(event)
    if (Math.abs(x - began.x) < LEAST_PX && box.hidden) return
    if (!over.hasPointerCapture(event.pointerId)) over.setPointerCapture(event.pointerId)
    if (began.pans) over.classList.add('panning')
    else {
      box.hidden = false
      box.style.left = `${Math.min(x, began.x)}px`
      box.style.width = `${Math.abs(x - began.x)}px`
    }
  })
  on('pointerup', (event) => {
    if (began?.id !== event.pointerId) return
    const [x, { x: start, pans }] = [placeOf(event), began]
    leave()
    if (Math.abs(x - start) < LEAST_PX) return
    if (pans) move((start - x) / Math.max(1, over.clientWidth))
    else show({ from: plot.posToVal(Math.min(x, start), 'x'), to: plot.posToVal(Math.max(x, start), 'x') })
  })
  on('pointercancel', leave)
  on('dblclick', () => {
    if (zooms.peek() > 0) back()
  })
  on('wheel', (event) => {
    // The page scrolls as ever without the key.
    if (!canZoom() || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    zoom(event.deltaY > 0 ? 1.5 : 1 / 1.5, plot.posToVal(event.clientX - over.getBoundingClientRect().left, 'x'))
  })
  const escape = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && began !== undefined) leave()
  }
  addEventListener('keydown', escape, { signal: ended.signal })
  return () => {
    ended.abort()
    box.remove()
  }
}
