// Opens the history's database: one writer, our schema, a broken file set aside.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { codeOf, messageOf } from '../../text/error.ts'
import { makeDirectory } from '../../lib/make-directory.ts'
import type { Log } from '../../model/source.ts'
import { isCorrupt, setAside, watchFile, type FileWatch } from '../database-file.ts'
import { openDatabaseFile } from '../open-database.ts'
import { createDisk } from './disk.ts'
import type { Disk } from './disk.ts'
import { HISTORY_SCHEMA } from './schema.ts'

/** The cache holds the ends of the trees that grow; history is read through rarely. */
const CACHE_KIB = 1024
/** SQLite brings the log into the file after 1000 pages of 4 KiB: about every four minutes at eight GPUs. */
const WAL_LIMIT_BYTES = 4 * 1024 * 1024

const LOCK_FILE = 'lock.db'

/** Another agent writes to the same directory. */
export class HistoryLockedError extends Error {
  override readonly name = 'HistoryLockedError'
}

/**
 * Takes the directory for this process: an exclusive lock on a small database, which the kernel gives back however the process ends.
 * Not the lock of the history itself, so that other programs may read it meanwhile. Returns the release.
 */
export function lockDirectory(directory: string): () => void {
  const holder = join(directory, 'lock.pid')
  const lock = new Sqlite(join(directory, LOCK_FILE), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true) throw error
    let pid = ''
    try {
      pid = ` (pid ${readFileSync(holder, 'utf8').trim()})`
    } catch {
      // Only the message is poorer for it.
    }
    throw new HistoryLockedError(`another Warpwatch${pid} already writes to ${directory}: stop it, or give this one another --data-dir`, { cause: error })
  }
  try {
    writeFileSync(holder, `${process.pid}\n`)
  } catch {
    // The lock holds without it; a full disk is reported where history is written.
  }
  return () => lock.close()
}

function openFile(file: string): Disk {
  const { db } = openDatabaseFile(file, { schema: HISTORY_SCHEMA, cacheKib: CACHE_KIB, walLimitBytes: WAL_LIMIT_BYTES })
  try {
    db.pragma('temp_store = MEMORY')
    return createDisk(db)
  } catch (error) {
    db.close()
    throw error
  }
}

/** The lock holds nothing, so a file that is none costs nothing but its name. */
function lockAnyway(directory: string, log: Log, now: number): () => void {
  try {
    return lockDirectory(directory)
  } catch (error) {
    if (!isCorrupt(error)) throw error
    const file = join(directory, LOCK_FILE)
    log.error(`${file} is broken (${messageOf(error)}): set aside as ${setAside(file, now)}`)
    return lockDirectory(directory)
  }
}

export type Opened = { readonly disk: Disk; readonly release: () => void; readonly watches: readonly FileWatch[] }

/**
 * Throws HistoryLockedError and NewerSchemaError, which only the operator can solve, and whatever the disk says; a corrupt database is
 * set aside and a new one begun.
 */
export function openDatabase(directory: string, log: Log, now: number): Opened {
  makeDirectory(directory, 0o700)
  const release = lockAnyway(directory, log, now)
  const file = join(directory, 'history.db')
  const opened = (): Opened => ({ disk: openFile(file), release, watches: [watchFile(file), watchFile(join(directory, LOCK_FILE))] })
  try {
    try {
      return opened()
    } catch (error) {
      if (!isCorrupt(error)) throw error
      const aside = setAside(file, now)
      log.error(`history ${file} is broken (${messageOf(error)}): set aside as ${aside}, a new one begins`)
      return opened()
    }
  } catch (error) {
    release()
    throw error
  }
}
