// Notices who speaks for the first time: a page rendered a moment before would miss it until the next tick.
import type { Event } from '../model/event.ts'

/** A page rendered before a GPU first spoke must not be served after it did. */
export function onNewGroup(changed: () => void): { readonly name: string; readonly ingest: (event: Event) => void } {
  const seen = new Set<string>()
  return {
    name: 'freshness',
    ingest(event) {
      if (event.type !== 'scrape' || seen.has(`${event.source}\n${event.group}`)) return
      if (seen.size > 10_000) seen.clear()
      seen.add(`${event.source}\n${event.group}`)
      changed()
    },
  }
}
