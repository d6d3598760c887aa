// The last notification of each incident to each notifier: on disk with what waits, and in memory, as it is asked for at every change of an incident.
import type { Database } from 'better-sqlite3'
import type { LastNotification } from '../../model/notification.ts'

/** Of one notifier, by incident. */
export type LastByIncident = Map<string, LastNotification>
type Row = LastNotification & { readonly notifier: string; readonly incident: string }
export type LastNotifications = {
  readonly all: () => Map<string, LastByIncident>
  /** Puts all of it where there is nothing. */
  readonly restore: (last: ReadonlyMap<string, LastByIncident>) => void
  /** Forgets what was over before then and waits for no notifier; of summaries the oldest of many, as a clock that is set back must not bring one twice. */
  readonly trim: (before: number) => readonly { readonly notifier: string; readonly incident: string }[]
  readonly forget: (incident: string) => void
}

export function lastOf(last: Map<string, LastByIncident>, notifier: string): LastByIncident {
  const states = last.get(notifier) ?? new Map<string, LastNotification>()
  last.set(notifier, states)
  return states
}

/** Of one notifier: a year of days and weeks. */
const MOST_SUMMARIES = 420
const NEWER_SUMMARIES = "(SELECT count(*) FROM told AS newer WHERE newer.notifier = told.notifier AND newer.event = 'waste' AND newer.at > told.at)"

export function lastNotificationsIn(db: Database): LastNotifications {
  const all = db.prepare<[], Row>('SELECT notifier, incident, event, severity, at FROM told')
  const put = db.prepare<Row>('INSERT OR IGNORE INTO told (notifier, incident, event, severity, at) VALUES (:notifier, :incident, :event, :severity, :at)')
  const trim = db.prepare<[number], { notifier: string; incident: string }>(
    `DELETE FROM told WHERE event <> 'firing' AND at < ? AND (event <> 'waste' OR ${NEWER_SUMMARIES} >= ${MOST_SUMMARIES}) AND NOT EXISTS ` +
      '(SELECT 1 FROM items WHERE items.incident = told.incident AND items.notifier = told.notifier) RETURNING notifier, incident',
  )
  const forget = db.prepare<[string]>(
    'DELETE FROM told WHERE incident = ? AND NOT EXISTS (SELECT 1 FROM items WHERE items.incident = told.incident AND items.notifier = told.notifier)',
  )
  return {
    all() {
      const found = new Map<string, LastByIncident>()
      for (const { notifier, incident, ...state } of all.iterate()) lastOf(found, notifier).set(incident, state)
      return found
    },
    restore: (last) =>
      db.transaction(() => {
        for (const [notifier, states] of last) for (const [incident, state] of states) put.run({ notifier, incident, ...state })
      })(),
    trim: (before) => trim.all(before),
    forget: (incident) => void forget.run(incident),
  }
}
