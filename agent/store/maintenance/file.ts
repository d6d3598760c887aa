// What people said, on disk: three short lists in a small database beside the incidents.
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { messageOf } from '../../text/error.ts'
import type { BaselineEntry, Acknowledgement, Silence } from '../../model/maintenance.ts'
import { BrokenFileError } from '../database-file.ts'
import { openReadOnly } from '../open-database.ts'
import type { Schema } from '../schema.ts'

export const MAINTENANCE_FILE = 'maintenance.db'
export const MAINTENANCE_SCHEMA: Schema = {
  what: 'silences and acknowledgements',
  // WwMa
  applicationId: 0x57_77_4d_61,
  knownBy: 'lists',
  steps: ['CREATE TABLE IF NOT EXISTS lists (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT'],
}

export type Lists = {
  readonly silences: readonly Silence[]
  readonly acknowledged: readonly (readonly [incident: string, said: Acknowledgement])[]
  readonly accepted: readonly BaselineEntry[]
}
export type ListName = keyof Lists
export type ListsFile = {
  readonly read: () => Lists
  readonly write: (lists: Lists, names: Iterable<ListName>) => void
}

/** Throws BrokenFileError where the disk holds something else. */
export function listsIn(db: Database): ListsFile {
  const get = db.prepare<[ListName], { body: string }>('SELECT body FROM lists WHERE name = ?')
  const put = db.prepare<[ListName, string]>('INSERT INTO lists VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body')
  // Only we write this file, so what is no JSON is the work of a broken disk.
  const list = <N extends ListName>(name: N): Lists[N] => {
    try {
      return JSON.parse(get.get(name)?.body ?? '[]')
    } catch (error) {
      throw error instanceof SyntaxError ? new BrokenFileError(`${name}: ${messageOf(error)}`) : error
    }
  }
  return {
    read: () => ({ silences: list('silences'), acknowledged: list('acknowledged'), accepted: list('accepted') }),
    write(lists, names) {
      db.transaction(() => {
        for (const name of names) put.run(name, JSON.stringify(lists[name]))
      }).immediate()
    },
  }
}

/** For readers, beside the agent or without one. Throws when it cannot be read. */
export function readLists(directory: string): Lists {
  const db = openReadOnly(join(directory, MAINTENANCE_FILE))
  try {
    return listsIn(db).read()
  } finally {
    db.close()
  }
}
