// The view that the address names: fetched when it is first opened, and what to do when it cannot be.
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { place, route } from '../parts/route.ts'
import type { View, ViewProps } from '../features/feature.ts'
import { VIEWS } from '../features/index.ts'
import { keepFocus } from './reach/focus.ts'

type Loaded = { readonly component: ComponentType<ViewProps> } | { readonly failed: true }
const loaded = signal<ReadonlyMap<string, Loaded>>(new Map())
const keep = (id: string, found: Loaded): void => void (loaded.value = new Map(loaded.peek()).set(id, found))

/** Whether the address was reached by going on, not back. Browsers without this interface leave the page where it is scrolled to. */
let onward = false
if ('navigation' in window) navigation.addEventListener('navigate', ({ navigationType }) => (onward = navigationType === 'push'))

function load({ id, load: fetchView }: View): void {
  fetchView().then(
    (component) => keep(id, { component }),
    (error: unknown) => {
      console.warn(error)
      keep(id, { failed: true })
    },
  )
}

export function CurrentView() {
  const { view: id, rest } = route.value
  const view = VIEWS.find((known) => known.id === id)
  const found = loaded.value.get(id)
  useEffect(() => {
    const known = view && loaded.peek().get(view.id)
    // What failed is asked for again when it is opened again.
    if (view !== undefined && (known === undefined || 'failed' in known)) load(view)
    place.value = view === undefined || view.id === '' ? '' : view.label
  }, [view])
  // A new page begins at its top; the way back leads to where one was.
  useEffect(() => {
    if (onward) scrollTo(0, 0)
    // The link that led here may be gone.
    keepFocus()
  }, [id, rest.join('/'), found])
  if (view === undefined)
    return (
      <p class="lost">
        There is no page {JSON.stringify(id)}. <a href="#/">Overview</a>
      </p>
    )
  if (found === undefined) return null
  if ('failed' in found)
    return (
      <p class="lost" role="alert">
        This page could not be loaded: the agent was replaced by another version or cannot be reached.{' '}
        <button type="button" class="word" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    )
  const { component: Shown } = found
  return <Shown rest={rest} />
}
