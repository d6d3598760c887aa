// Zooming, moving, pausing: the window of the address is changed, and what was there before is one step back in the browser's history.
import { computed, signal } from '@preact/signals'
import { charted, liveSeconds, windowed } from '../../range/charted.ts'
import { fitted, moved, type Window, windowOf, zoomed } from '../../range/window.ts'
import { agentNow } from '../../live/state.ts'
import { hrefOf, route, setParams } from '../../route.ts'
import { secondOf } from '../../live/lanes.ts'

const zoomsIn = (state: unknown): number => {
  const found: unknown = typeof state === 'object' && state !== null ? Object.entries(state).find(([name]) => name === 'zooms')?.[1] : undefined
  return typeof found === 'number' ? found : 0
}
/** How many zooms are behind this entry of the browser's history. */
export const zooms = signal(zoomsIn(history.state))
addEventListener('popstate', (event) => (zooms.value = zoomsIn(event.state)))

const now = (): number => secondOf(agentNow.peek())
/** The window of the address; undefined where the charts go on live. */
export const still = computed(() => windowOf(route.value.params))

/** What the charts of this view show. */
export function shown(): Window {
  const found = still.peek()
  if (found !== undefined) return found
  const end = now()
  return { from: end - (liveSeconds.peek() ?? charted.peek().range.seconds), to: end }
}

export const canZoom = (): boolean => windowed.peek()

const words = ({ from, to }: Window): Record<string, string> => ({ from: String(from), to: String(to) })

/** Shows this window, with the one before a step back. */
export function show(next: Window): void {
  if (!canZoom()) return
  const window = fitted(next, now())
  const old = still.peek()
  if (old?.from === window.from && old.to === window.to) return
  zooms.value++
  history.pushState({ zooms: zooms.peek() }, '')
  setParams(words(window))
}

export const zoom = (factor: number, at?: number): void => {
  const window = shown()
  show(zoomed(window, factor, at ?? (window.from + window.to) / 2, now()))
}

/** Moving is no step of its own in the browser's history once the window does not move. */
export function move(part: number): void {
  if (!canZoom()) return
  const next = moved(shown(), part, now())
  if (still.peek() === undefined) show(next)
  else setParams(words(next))
}

export const back = (): void => history.back()
export const pause = (): void => show(shown())
export const goLive = (): void => setParams({ from: undefined, to: undefined })
/** The address of just these seconds, also while the charts go on. */
export function linkHere(): string {
  const { view, rest, params } = route.peek()
  return new URL(hrefOf(view, rest, { ...Object.fromEntries(params), ...words(shown()) }), location.href).href
}
