// Where the reader is, as the address says it: `#/incidents/ID?range=1h`. All state of a view that is worth a link is there.
import { computed, signal } from '@preact/signals'

export type Route = {
  /** The view's id; `` is the overview. */
  readonly view: string
  /** What follows it: `['ID']`. */
  readonly rest: readonly string[]
  readonly params: ReadonlyMap<string, string>
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a stray percent sign that someone typed
  }
}

/** Any other hash (`#gpu-3`) is a place on the overview. */
export function parseRoute(hash: string): Route {
  if (!hash.startsWith('#/')) return { view: '', rest: [], params: new Map() }
  const [path = '', query = ''] = hash.slice(2).split('?', 2)
  const [view = '', ...rest] = path.split('/').map(decode)
  return { view, rest: rest.filter((part) => part !== ''), params: new Map(new URLSearchParams(query)) }
}

export function hrefOf(view: string, rest: readonly string[] = [], params: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams(Object.entries(params).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]]))).toString()
  return `#/${[view, ...rest].map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`
}

export const route = signal<Route>(parseRoute(location.hash))
addEventListener('hashchange', () => (route.value = parseRoute(location.hash)))

/** One value of the address; a view that reads it is redrawn when only that changes. */
export const param = (name: string) => computed(() => route.value.params.get(name))

/** Changes values of the address in place: without an entry in the history, as while a slider moves. */
export function setParams(changes: Readonly<Record<string, string | undefined>>): void {
  const { view, rest, params } = route.peek()
  const next = hrefOf(view, rest, { ...Object.fromEntries(params), ...changes })
  history.replaceState(history.state, '', next)
  route.value = parseRoute(next)
}

/** Name of the view that is open, for the page's title; empty: the overview. */
export const place = signal('')
