// Which actions were begun for which incidents: written before anything is done, so that none is done twice, whenever the agent is killed.
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { ActionResult } from '../model/action.ts'
import type { Log } from '../model/source.ts'
import { openDurable } from './durable.ts'
import { openReadOnly } from './open-database.ts'
import type { Schema } from './schema.ts'

export type ActionStore = {
  /** On disk when this returns true; false: it was begun before, or cannot be written, and must not be done. */
  readonly claim: (incident: string, result: ActionResult) => boolean
  readonly finish: (incident: string, result: ActionResult) => void
  /** By the newest of them. */
  readonly of: (incident: string) => readonly ActionResult[]
  /** When the action was really done, since then; the newest last. */
  readonly times: (action: string, since: number) => readonly number[]
  /** What was begun when the last agent ended: it is not known what came of it. */
  readonly interrupt: () => void
  readonly maintain: (now: number) => void
  readonly close: () => void
}

export const ACTIONS_FILE = 'actions.db'
const KEPT_MS = 90 * 24 * 3_600_000
const TRIM_EVERY_MS = 3_600_000
const SCHEMA: Schema = {
  what: 'actions',
  // WwAc
  applicationId: 0x57_77_41_63,
  steps: [
    `CREATE TABLE actions (incident TEXT NOT NULL, action TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (incident, action)) STRICT, WITHOUT ROWID;
CREATE INDEX actions_by_time ON actions (action, at);`,
  ],
}
// Only we write this file; what a broken disk makes of it fails in JSON.parse.
const resultIn = (text: string): ActionResult => JSON.parse(text)

function actionsIn(db: Database) {
  const insert = db.prepare('INSERT INTO actions VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
  const update = db.prepare('UPDATE actions SET state = ?, result = ? WHERE incident = ? AND action = ?')
  const of = db.prepare<[string], string>('SELECT result FROM actions WHERE incident = ? ORDER BY at').pluck()
  const times = db.prepare<[string, number], number>("SELECT at FROM actions WHERE action = ? AND at >= ? AND state NOT IN ('skipped') ORDER BY at").pluck()
  const open = db.prepare<[], { readonly incident: string; readonly result: string }>("SELECT incident, result FROM actions WHERE state = 'started'")
  const trim = db.prepare('DELETE FROM actions WHERE at < ?')
  return {
    insert: (incident: string, result: ActionResult): boolean =>
      insert.run(incident, result.action, result.at, result.state, JSON.stringify(result)).changes === 1,
    update: (incident: string, result: ActionResult): void => void update.run(result.state, JSON.stringify(result), incident, result.action),
    of: (incident: string): readonly ActionResult[] => of.all(incident).map(resultIn),
    times: (action: string, since: number): readonly number[] => times.all(action, since),
    open: () => open.all().map(({ incident, result }) => ({ incident, result: resultIn(result) })),
    trim: (before: number): void => void trim.run(before),
  }
}

/** For readers without an agent. Throws when it cannot be read. */
export function actionsInFile(directory: string, incident: string): readonly ActionResult[] {
  const db = openReadOnly(join(directory, ACTIONS_FILE))
  try {
    return actionsIn(db).of(incident)
  } finally {
    db.close()
  }
}

export function createActionStore({ directory, log }: { readonly directory: string; readonly log: Log }): ActionStore {
  let trimmedAt = 0
  const durable = openDurable({
    directory,
    file: ACTIONS_FILE,
    log,
    what: 'actions',
    cost: 'no action is done meanwhile, as it could be done twice',
    schema: SCHEMA,
    cacheKib: 64,
    prepare: actionsIn,
    onOpen() {},
  })
  return {
    claim(incident, result) {
      let isNew = false
      return durable.use((file) => void (isNew = file.insert(incident, result))) && isNew
    },
    finish: (incident, result) => void durable.use((file) => file.update(incident, result)),
    of: (incident) => durable.read((file) => file.of(incident), []),
    times: (action, since) => durable.read((file) => file.times(action, since), []),
    interrupt() {
      durable.use((file) => {
        for (const { incident, result } of file.open())
          file.update(incident, { ...result, state: 'interrupted', text: 'the agent ended while it ran: its result is not known, and it is not done again' })
      })
    },
    maintain(now) {
      durable.maintain(now)
      if (Math.abs(now - trimmedAt) < TRIM_EVERY_MS) return
      trimmedAt = now
      durable.use((file) => file.trim(now - KEPT_MS))
    },
    close: durable.close,
  }
}
