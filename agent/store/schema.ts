// The schema of a small database of ours: made when the file is new, known by its number when it is not.
import type { Database } from 'better-sqlite3'
import { checkOwner } from './database-file.ts'

export type Schema = {
  /** Ends "expected …": what the file should hold. */
  readonly what: string
  readonly version: number
  /** Four letters as a number: the file is known as ours. */
  readonly applicationId: number
  readonly sql: string
}

/** Throws when the file was written by a newer Warpwatch, and BrokenFileError when by another program. */
export function prepareSchema(db: Database, file: string, { what, version, applicationId, sql }: Schema): void {
  checkOwner(db, applicationId)
  const found = Number(db.pragma('user_version', { simple: true }))
  if (found > version) throw new Error(`${file}: expected ${what} of schema version ${version} or older, came ${found}, written by a newer Warpwatch`)
  if (found === version) return
  db.transaction(() => {
    db.exec(sql)
    db.pragma(`application_id = ${applicationId}`)
    db.pragma(`user_version = ${version}`)
  }).immediate()
}
