// Keeps a SQLite file usable for as long as the agent runs: opened, lost and tried again, set aside when it is broken, started over when it was removed or
// replaced. What a store must still write while the file is lost it keeps in memory; `onOpen` is where it writes that.
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { codeOf, messageOf } from '../text/error.ts'
import type { Log } from '../model/source.ts'
import { FileMovedError, isCorrupt, setAside, watchFile, type FileWatch } from './database-file.ts'
import { openDatabaseFile, type OpenSettings } from './open-database.ts'
import { NewerSchemaError } from './schema.ts'

/** Between two tries to reach a disk that is full, read-only or gone. */
const RETRY_MS = 10_000

export type DurableOptions<T> = OpenSettings & {
  readonly directory: string
  readonly file: string
  readonly log: Log
  /** In the plural, as in "… are kept in memory only". */
  readonly what: string
  /** What the loss of the file costs, where that is more than a restart's worth of `what`. */
  readonly cost?: string
  readonly now?: () => number
  /** What the store asks of an open database: its prepared statements. */
  readonly prepare: (db: Database) => T
  /**
   * The file can be used, for the first time or again: writes what the file does not hold. What it throws is handled as a failure of the file, and it
   * is called again at the next try. `previous` means a file that was moved or is broken, as far as it can still be read.
   */
  readonly onOpen: (on: T, more: { readonly previous: T | undefined }) => void
  /** The file cannot be used any more; it may still be readable. Followed by `onOpen` at once where another file can be begun. */
  readonly onLost?: (on: T | undefined) => void
}
export type Durable<T> = {
  /** Never throws; false when the file is lost, or is lost by this. */
  readonly use: (act: (on: T) => void) => boolean
  /** Never throws. A file that can no longer be written may still be read. */
  readonly read: <R>(ask: (on: T) => R, otherwise: R) => R
  /** For a store that catches errors of the file itself. */
  readonly fail: (error: unknown) => void
  /** Once a second: notices that the file was removed, replaced or emptied; tries a lost one again every ten seconds. */
  readonly maintain: (now: number) => void
  /** Why it is lost; undefined while it can be used. */
  readonly degraded: () => string | undefined
  /** Tries a lost file once more. */
  readonly close: () => void
}

type Open<T> = { readonly db: Database; readonly on: T; readonly watch: FileWatch; readonly isExclusive: boolean }

/** Node's messages begin with the code, SQLite's do not. */
const reasonOf = (error: unknown): string => {
  const [code, text] = [codeOf(error), messageOf(error)]
  return code === undefined || text.startsWith(code) ? text : `${code}: ${text}`
}

/** Never throws: without a disk everything stays in memory, and the log says so once. */
export function openDurable<T>(options: DurableOptions<T>): Durable<T> {
  const { directory, log, what, prepare, onOpen, onLost, now = Date.now } = options
  const path = join(directory, options.file)
  const cost = options.cost === undefined ? '' : `; ${options.cost}`
  let current: Open<T> | undefined
  /** What `current` has open is not, or no longer, the file of that name. */
  let isDetached = false
  let reason: string | undefined
  /** The store has been notified that the file is lost. */
  let isLost = false
  let triedAt = Number.NEGATIVE_INFINITY

  const closed = (which: Open<T> | undefined): void => {
    try {
      which?.db.close()
    } catch {
      // What matters is in memory or on disk already.
    }
  }
  const drop = (): void => {
    closed(current)
    current = undefined
    isDetached = false
  }
  const tellLost = (): void => {
    if (isLost) return
    isLost = true
    onLost?.(current?.on)
  }
  const usable = (): void => {
    isLost = false
    if (reason !== undefined) log.info(`${path} can be written again`)
    reason = undefined
  }
  const lose = (error: unknown): void => {
    tellLost()
    const text = reasonOf(error)
    const advice = error instanceof NewerSchemaError ? '' : ': free space or give write permission'
    if (reason !== text)
      log.error(`${path} cannot be written, ${what} are kept in memory only (${text})${advice}; tried again every ${RETRY_MS / 1000} s${cost}`)
    reason = text
  }
  /** Throws where that cannot be done. */
  const putAside = (error: unknown): void => {
    try {
      log.error(`${path} is broken (${messageOf(error)}): set aside as ${setAside(path, now())}, a new one begins${cost}`)
    } catch (failed) {
      throw new Error(`${path} is broken (${messageOf(error)}) and cannot be set aside: ${messageOf(failed)}`, { cause: failed })
    }
  }
  const opened = (): Open<T> => {
    const { db, isExclusive } = openDatabaseFile(path, options)
    try {
      const fresh = { db, on: prepare(db), watch: watchFile(path), isExclusive }
      onOpen(fresh.on, { previous: isDetached ? current?.on : undefined })
      return fresh
    } catch (error) {
      db.close()
      throw error
    }
  }
  /** Opens what is there now, or a new file. What is open stays so until then: it can still be read, and is handed over. */
  const connect = (): void => {
    let fresh
    try {
      try {
        fresh = opened()
      } catch (error) {
        if (!isCorrupt(error)) throw error
        putAside(error)
        fresh = opened()
      }
    } catch (error) {
      return lose(error)
    }
    drop()
    current = fresh
    usable()
  }
  const fail = (error: unknown): void => {
    const isMoved = error instanceof FileMovedError
    if (!isMoved && !isCorrupt(error)) return lose(error)
    tellLost()
    if (isMoved) {
      log.error(`${error.message}: started over with the ${what} that are known`)
      current?.watch.clean()
    } else {
      try {
        putAside(error)
      } catch (failed) {
        drop()
        return lose(failed)
      }
    }
    isDetached = true
    connect()
  }
  const check = (): void => {
    if (isDetached) return
    try {
      current?.watch.check()
    } catch (error) {
      fail(error)
    }
  }
  const retry = (): void => {
    if (current !== undefined && !isDetached) {
      try {
        onOpen(current.on, { previous: undefined })
        return usable()
      } catch (error) {
        if (isCorrupt(error)) return fail(error)
        // Another connection would fare no better, and this one can still be read.
        if (/^SQLITE_(?:FULL|BUSY)/.test(codeOf(error) ?? '')) return lose(error)
        if (current.isExclusive) drop()
      }
    }
    connect()
  }

  const maintain = (t: number): void => {
    check()
    // A clock set back must not put the next try off.
    if (reason === undefined || (t - triedAt < RETRY_MS && t >= triedAt)) return
    triedAt = t
    retry()
  }

  connect()
  return {
    use(act) {
      if (current === undefined || reason !== undefined) return false
      try {
        act(current.on)
        return true
      } catch (error) {
        fail(error)
        return false
      }
    },
    read(ask, otherwise) {
      if (current === undefined) return otherwise
      try {
        return ask(current.on)
      } catch (error) {
        // What is wrong with a file that was moved says nothing about the one that is there now.
        if (!isDetached) fail(error)
        return otherwise
      }
    },
    fail,
    maintain,
    degraded: () => reason,
    close() {
      if (reason !== undefined) maintain(Number.POSITIVE_INFINITY)
      drop()
    },
  }
}
