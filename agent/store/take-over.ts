// Takes the rows of a database that was moved or is broken over into the one that means it now.
import type { Database } from 'better-sqlite3'

/** How many were added by `add`, which says so for each; what cannot be read any more is left behind. */
export function takeRows<T>(db: Database, rows: IterableIterator<T>, add: (row: T) => number): number {
  let taken = 0
  db.transaction(() => {
    for (;;) {
      let next
      try {
        next = rows.next()
      } catch {
        return // the rest of it is broken
      }
      if (next.done === true) return
      taken += add(next.value)
    }
  }).immediate()
  return taken
}
