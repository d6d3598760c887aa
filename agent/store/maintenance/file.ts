// What people said, on disk: three short lists in a small database beside the incidents.
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { makeDirectory } from '../../lib/make-directory.ts'
import { BUSY_MS, checkTable, keepIndexSafe, watchFile, type FileWatch } from '../database-file.ts'
import type { Accepted, Acknowledgement, Silence } from '../../model/maintenance.ts'

export const MAINTENANCE_FILE = 'maintenance.db'

export type Lists = {
  readonly silences: readonly Silence[]
  readonly acknowledged: readonly (readonly [incident: string, said: Acknowledgement])[]
  readonly accepted: readonly Accepted[]
}
export type ListName = keyof Lists
export type MaintenanceFile = {
  readonly watch: FileWatch
  readonly read: () => Lists
  readonly write: (lists: Lists, names: Iterable<ListName>) => void
  readonly close: () => void
}

// Only we write this file; what a broken disk makes of it fails in JSON.parse.
const silencesIn = (text: string): Lists['silences'] => JSON.parse(text)
const acknowledgedIn = (text: string): Lists['acknowledged'] => JSON.parse(text)
const acceptedIn = (text: string): Lists['accepted'] => JSON.parse(text)

/** Throws when the directory or the file cannot be used. */
export function openMaintenanceFile(directory: string, { readonly = false } = {}): MaintenanceFile {
  if (!readonly) makeDirectory(directory, 0o700)
  const path = join(directory, MAINTENANCE_FILE)
  const db = new Sqlite(path, { readonly, fileMustExist: readonly, timeout: BUSY_MS })
  try {
    if (!readonly) {
      keepIndexSafe(db, path)
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = NORMAL')
      db.pragma('cache_size = -64')
      checkTable(db, 'lists')
      db.exec('CREATE TABLE IF NOT EXISTS lists (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT')
    }
    const get = db.prepare<[ListName], { body: string }>('SELECT body FROM lists WHERE name = ?')
    const put = readonly ? undefined : db.prepare<[ListName, string]>('INSERT INTO lists VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body')
    const body = (name: ListName): string => get.get(name)?.body ?? '[]'
    return {
      watch: watchFile(path),
      read: () => ({ silences: silencesIn(body('silences')), acknowledged: acknowledgedIn(body('acknowledged')), accepted: acceptedIn(body('accepted')) }),
      write(lists, names) {
        db.transaction(() => {
          for (const name of names) put?.run(name, JSON.stringify(lists[name]))
        }).immediate()
      },
      close: () => void db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}
