// Where each log was read to, so that a restart judges no line twice and loses none. A small database of its own in data_dir.
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { makeDirectory } from '../lib/make-directory.ts'
import type { Log } from '../model/source.ts'
import { BUSY_MS, checkTable, FileMovedError, isCorrupt, keepIndexSafe, setAside, watchFile, type FileWatch } from './database-file.ts'

export type CursorStore = {
  readonly get: (key: string) => string | undefined
  /** Kept at once, on disk within a second: at once when the last write is longer ago. */
  readonly set: (key: string, value: string) => void
  readonly delete: (key: string) => void
  readonly keys: (prefix: string) => readonly string[]
  readonly flush: () => void
  readonly close: () => void
}

const WRITE_EVERY_MS = 1_000
/** A disk that refused is tried again at this pace. */
const RETRY_MS = 10_000
/** A log that nobody read for so long has gone. */
const KEPT_MS = 30 * 24 * 3_600_000
const MAX_CURSORS = 20_000

type Disk = {
  readonly watch: FileWatch
  readonly write: (dirty: ReadonlyMap<string, string | undefined>, now: number) => void
  readonly close: () => void
}
type Entry = { readonly value: string; readonly t: number }

function openDisk(file: string, now: number): { readonly disk: Disk; readonly entries: ReadonlyMap<string, Entry> } {
  const db = new Sqlite(file, { timeout: BUSY_MS })
  try {
    keepIndexSafe(db, file)
    db.pragma('journal_mode = WAL')
    // The death of the process loses nothing; a power failure at most the newest second.
    db.pragma('synchronous = NORMAL')
    db.pragma('cache_size = -128')
    checkTable(db, 'cursors')
    db.exec('CREATE TABLE IF NOT EXISTS cursors (key TEXT PRIMARY KEY, value TEXT NOT NULL, t INTEGER NOT NULL) WITHOUT ROWID')
    db.prepare('DELETE FROM cursors WHERE t < ?').run(now - KEPT_MS)
    const entries = new Map<string, Entry>()
    for (const row of db.prepare<[number], { key: string; value: string; t: number }>('SELECT key, value, t FROM cursors ORDER BY t LIMIT ?').all(MAX_CURSORS))
      entries.set(row.key, { value: row.value, t: row.t })
    const put = db.prepare('INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, t = excluded.t')
    const remove = db.prepare('DELETE FROM cursors WHERE key = ?')
    const write = db.transaction((dirty: ReadonlyMap<string, string | undefined>, t: number) => {
      for (const [key, value] of dirty) {
        if (value === undefined) remove.run(key)
        else put.run(key, value, t)
      }
    })
    return { disk: { watch: watchFile(file), write, close: () => db.close() }, entries }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Never throws: without a disk the cursors are in memory, and the log says what that costs. */
export function createCursorStore(options: { readonly directory: string; readonly log: Log; readonly now?: () => number }): CursorStore {
  const { directory, log, now = Date.now } = options
  const file = join(directory, 'cursors.db')
  const values = new Map<string, string>()
  const dirty = new Map<string, string | undefined>()
  let disk: Disk | undefined
  let degraded = false
  let lastWrite = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error))
  /** The file is another one: nothing of what is known stands in it. */
  const allDirty = (): void => {
    for (const [key, value] of values) if (!dirty.has(key)) dirty.set(key, value)
  }
  /** Notices that the file was removed, replaced or emptied, and begins with what stands there now. */
  const checkFile = (): void => {
    const before = disk
    try {
      before?.watch.check()
    } catch (error) {
      disk = undefined
      before?.close()
      if (error instanceof FileMovedError) before?.watch.clean()
      else setAside(file, now())
      log.warn(`${reason(error)}: begun anew with what is known`)
      allDirty()
    }
  }
  const open = (): void => {
    makeDirectory(directory, 0o700)
    let opened
    try {
      opened = openDisk(file, now())
    } catch (error) {
      if (!isCorrupt(error)) throw error
      const aside = setAside(file, now())
      log.error(`${file} is broken (${reason(error)}): set aside as ${aside}; logs are read again from ten minutes ago`)
      opened = openDisk(file, now())
      allDirty()
    }
    disk = opened.disk
    for (const [key, { value }] of opened.entries) if (!values.has(key) && !dirty.has(key)) values.set(key, value)
  }
  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    lastWrite = performance.now()
    if (dirty.size === 0) return
    try {
      checkFile()
      if (disk === undefined) open()
      disk?.write(dirty, now())
      dirty.clear()
      if (degraded) log.info(`${file} can be written again`)
      degraded = false
    } catch (error) {
      if (!degraded) log.warn(`${file} cannot be written (${reason(error)}): after a restart, lines of logs may be judged twice or missed`)
      degraded = true
      try {
        disk?.close()
      } catch {
        // It is given up either way.
      }
      disk = undefined
      // Also where nothing changes any more: what is known must be on disk before the agent ends.
      writeLater(RETRY_MS)
    }
  }
  const writeLater = (ms: number): void => {
    timer ??= setTimeout(write, ms).unref()
  }
  const changed = (key: string, value: string | undefined): void => {
    dirty.set(key, value)
    if (timer !== undefined) return
    const dueMs = lastWrite + (degraded ? RETRY_MS : WRITE_EVERY_MS) - performance.now()
    if (dueMs <= 0) write()
    else writeLater(dueMs)
  }
  try {
    open()
  } catch (error) {
    degraded = true
    lastWrite = performance.now()
    log.warn(`${file} cannot be opened (${reason(error)}): after a restart, lines of logs may be judged twice or missed`)
  }

  return {
    get: (key) => values.get(key),
    set(key, value) {
      if (values.get(key) === value) return
      values.delete(key)
      values.set(key, value)
      const oldest = values.size > MAX_CURSORS ? values.keys().next().value : undefined
      if (oldest !== undefined) {
        values.delete(oldest)
        dirty.set(oldest, undefined)
      }
      changed(key, value)
    },
    delete(key) {
      if (values.delete(key)) changed(key, undefined)
    },
    keys: (prefix) => [...values.keys()].filter((key) => key.startsWith(prefix)),
    flush: write,
    close() {
      write()
      disk?.close()
      disk = undefined
    },
  }
}
