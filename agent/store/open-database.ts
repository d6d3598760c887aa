// Opens a SQLite file of ours: private before SQLite writes into it, with a write-ahead log, at the newest version of its schema.
import { chmodSync, closeSync, constants, lstatSync, openSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { codeOf } from '../text/error.ts'
import { makeDirectory } from '../lib/make-directory.ts'
import { prepareSchema, type Schema } from './schema.ts'

/**
 * How long a statement waits for another program's lock, ms. SQLite waits within the call, so nothing is sampled meanwhile: short enough that all
 * databases together cost less than a second. A write of ours takes a few milliseconds, so no other process has a reason to hold a lock for long.
 */
const BUSY_MS = 100

/** f_type of btrfs (statfs(2)). */
const BTRFS = 0x9123683e

/**
 * The index of a write-ahead log is a file that is mapped into memory. btrfs reserves space again for each of its pages that is written to, and where
 * the disk or a quota is used up it answers with SIGBUS, which ends the process. There the index is kept on the heap: no second connection can then
 * open the database. To be called before the first statement.
 */
function keepIndexSafe(db: Database, file: string): boolean {
  const isExclusive = statfsSync(dirname(file)).type === BTRFS
  if (isExclusive) db.pragma('locking_mode = EXCLUSIVE')
  return isExclusive
}

/** A new file is private from the start; what SQLite puts beside it gets the same mode. True: it was made. */
function makePrivate(file: string): boolean {
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600))
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  // By name: closing a descriptor of a file frees the locks that SQLite holds on it in this process.
  const found = lstatSync(file)
  if (found.isFile() && found.nlink === 1 && found.uid === process.getuid?.() && (found.mode & 0o077) !== 0) chmodSync(file, 0o600)
  return false
}

export type OpenSettings = {
  readonly schema: Schema
  /** The most memory that SQLite keeps pages in. */
  readonly cacheKib: number
  /** Size that the write-ahead log is cut to once it is brought into the file. */
  readonly walLimitBytes?: number
}
export type OpenDatabase = {
  readonly db: Database
  /** No second connection can be opened meanwhile. */
  readonly isExclusive: boolean
}

/** Makes the directory and the file where there are none. Throws what the system or SQLite says, BrokenFileError and NewerSchemaError. */
export function openDatabaseFile(file: string, { schema, cacheKib, walLimitBytes = 1 << 20 }: OpenSettings): OpenDatabase {
  makeDirectory(dirname(file), 0o700)
  const isNew = makePrivate(file)
  const db = new Sqlite(file, { timeout: BUSY_MS })
  try {
    const isExclusive = keepIndexSafe(db, file)
    // Nothing is in a new file yet that a power failure could cost, and a first start waited for the disk 74 times, nearly all of it here. A torn one is set aside.
    db.pragma(`synchronous = ${isNew ? 'OFF' : 'NORMAL'}`)
    // Holds only for a database without tables.
    db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    db.pragma(`cache_size = -${cacheKib}`)
    db.pragma(`journal_size_limit = ${walLimitBytes}`)
    prepareSchema(db, file, schema)
    // The death of the process costs nothing; a power failure may cost the last seconds.
    db.pragma('synchronous = NORMAL')
    return { db, isExclusive }
  } catch (error) {
    db.close()
    throw error
  }
}

/** The same tables in memory. */
export function openMemoryDatabase(schema: Schema): Database {
  const db = new Sqlite(':memory:')
  prepareSchema(db, ':memory:', schema)
  return db
}

/** For readers, beside the agent or without one. Throws when the file is not there or cannot be read. */
export const openReadOnly = (file: string): Database => new Sqlite(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
