// The schema of a database of ours: its tables, and the steps from each version to the next. Forward only; a released step never changes.
import type { Database } from 'better-sqlite3'
import { BrokenFileError } from './database-file.ts'

export type Schema = {
  /** As in "the file has …": what it holds. */
  readonly what: string
  /** Four letters as a number (PRAGMA application_id): the file is known as ours. */
  readonly applicationId: number
  /** A table by which a file that an earlier version wrote without an application id is known. */
  readonly knownBy?: string
  /** SQL that leads from each version to the next (PRAGMA user_version); the first one makes the tables. */
  readonly steps: readonly string[]
}

/** The database was written by a newer Warpwatch. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError'
}

/** Brings an open database to version `target`. Throws NewerSchemaError when it is beyond, and BrokenFileError when another program wrote it. */
export function prepareSchema(db: Database, file: string, { what, applicationId, knownBy, steps }: Schema, target = steps.length): void {
  const owner = Number(db.pragma('application_id', { simple: true }))
  const names = db.prepare<[], string>('SELECT name FROM sqlite_master').pluck().all()
  const isOurs = names.length === 0 || owner === applicationId || (owner === 0 && knownBy !== undefined && names.includes(knownBy))
  if (!isOurs) throw new BrokenFileError(`expected application id ${applicationId}, found ${owner} with ${names.slice(0, 5).join(', ')}`)
  const version = Number(db.pragma('user_version', { simple: true }))
  if (version > target) {
    throw new NewerSchemaError(
      `${file} has ${what} of schema version ${version}, this Warpwatch knows versions up to ${target}: start the newer Warpwatch again, or give another --data-dir`,
    )
  }
  for (let next = version; next < target; next++) {
    db.transaction(() => {
      db.exec(steps[next] ?? '')
      db.pragma(`application_id = ${applicationId}`)
      db.pragma(`user_version = ${next + 1}`)
    }).immediate()
  }
}
