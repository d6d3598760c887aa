// Opens the history's database: one writer, our schema, a broken file set aside.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { codeOf } from '../../lib/error-words.ts'
import { makeDirectory } from '../../lib/make-directory.ts'
import type { Log } from '../../model/source.ts'
import { createDisk } from './disk.ts'
import type { Disk } from './disk.ts'
import { APPLICATION_ID, migrate } from './schema.ts'

/** Pages of 4 KiB; the cache holds the ends of the trees that grow, history is read through rarely. */
const CACHE_KIB = 1024
/** Pages after which the write-ahead log is brought into the file: about every four minutes at eight GPUs. */
const CHECKPOINT_PAGES = 1000
const WAL_LIMIT_BYTES = 4 * 1024 * 1024

/** Another agent writes to the same directory. */
export class HistoryLockedError extends Error {
  override readonly name = 'HistoryLockedError'
}

/** The file is a database, but none of ours. */
class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError'
}
export const isCorrupt = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error)) || error instanceof ForeignFileError

/**
 * Takes the directory for this process: an exclusive lock on a small database, which the kernel gives back however the process ends.
 * Not the lock of the history itself, so that other programs may read it meanwhile. Returns the release.
 */
export function lockDirectory(directory: string): () => void {
  const holder = join(directory, 'lock.pid')
  const lock = new Sqlite(join(directory, 'lock.db'), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error
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
    // The lock holds without it; a full disk is told of where history is written.
  }
  return () => lock.close()
}

function openFile(file: string): Disk {
  const db = new Sqlite(file, { timeout: 1000 })
  try {
    // Both hold only for a database without tables.
    db.pragma('page_size = 4096')
    db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    // A power failure may cost what is not checkpointed yet, the death of the process costs nothing.
    db.pragma('synchronous = NORMAL')
    db.pragma(`cache_size = -${CACHE_KIB}`)
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`)
    db.pragma('temp_store = MEMORY')
    const owner = Number(db.pragma('application_id', { simple: true }))
    const tables = Number(db.prepare('SELECT count(*) FROM sqlite_master').pluck().get())
    if (tables > 0 && owner !== APPLICATION_ID) throw new ForeignFileError(`expected application id ${APPLICATION_ID}, found ${owner}`)
    migrate(db, file)
    return createDisk(db)
  } catch (error) {
    db.close()
    throw error
  }
}

/** Renames a database and what belongs to it, so that it can still be looked at. Returns the new name. */
export function setAside(file: string, now: number): string {
  const aside = `${file}.broken-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`
  for (const suffix of ['', '-wal', '-shm']) {
    try {
      renameSync(file + suffix, aside + suffix)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
  return aside
}

/**
 * Throws HistoryLockedError and NewerSchemaError, which only the operator can solve, and whatever the disk says; a corrupt database is
 * set aside and a new one begun.
 */
export function openDatabase(directory: string, log: Log, now: number): { readonly disk: Disk; readonly release: () => void } {
  makeDirectory(directory, 0o700)
  const release = lockDirectory(directory)
  const file = join(directory, 'history.db')
  try {
    try {
      return { disk: openFile(file), release }
    } catch (error) {
      if (!isCorrupt(error)) throw error
      const aside = setAside(file, now)
      log.error(`history ${file} is broken (${error instanceof Error ? error.message : String(error)}): set aside as ${aside}, a new one begins`)
      return { disk: openFile(file), release }
    }
  } catch (error) {
    release()
    throw error
  }
}
