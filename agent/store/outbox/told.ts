// What each notifier was last told of each incident: on disk with what waits, and in memory, as it is asked for at every change of an incident.
import type { Database } from 'better-sqlite3'
import type { ToldState } from '../../model/notification.ts'

/** Of one notifier, by incident. */
export type ToldOf = Map<string, ToldState>
type Row = ToldState & { readonly notifier: string; readonly incident: string }
export type Told = {
  readonly all: () => Map<string, ToldOf>
  /** Puts all of it where there is nothing. */
  readonly restore: (told: ReadonlyMap<string, ToldOf>) => void
  /** Forgets what is over since before then and waits for nobody. */
  readonly trim: (before: number) => readonly { readonly notifier: string; readonly incident: string }[]
  readonly forget: (incident: string) => void
}

export function toldOf(told: Map<string, ToldOf>, notifier: string): ToldOf {
  const states = told.get(notifier) ?? new Map<string, ToldState>()
  told.set(notifier, states)
  return states
}

export function toldIn(db: Database): Told {
  const all = db.prepare<[], Row>('SELECT notifier, incident, event, severity, at FROM told')
  const put = db.prepare<Row>('INSERT OR IGNORE INTO told (notifier, incident, event, severity, at) VALUES (:notifier, :incident, :event, :severity, :at)')
  const trim = db.prepare<[number], { notifier: string; incident: string }>(
    "DELETE FROM told WHERE event = 'resolved' AND at < ? AND NOT EXISTS " +
      '(SELECT 1 FROM items WHERE items.incident = told.incident AND items.notifier = told.notifier) RETURNING notifier, incident',
  )
  const forget = db.prepare<[string]>(
    'DELETE FROM told WHERE incident = ? AND NOT EXISTS (SELECT 1 FROM items WHERE items.incident = told.incident AND items.notifier = told.notifier)',
  )
  return {
    all() {
      const found = new Map<string, ToldOf>()
      for (const { notifier, incident, ...state } of all.iterate()) toldOf(found, notifier).set(incident, state)
      return found
    },
    restore: (told) =>
      db.transaction(() => {
        for (const [notifier, states] of told) for (const [incident, state] of states) put.run({ notifier, incident, ...state })
      })(),
    trim: (before) => trim.all(before),
    forget: (incident) => void forget.run(incident),
  }
}
