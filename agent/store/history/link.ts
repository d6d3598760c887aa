// Holds the database: open, lost and retried, or broken and started over. A loss is logged once as an error, and the agent goes on in memory.
import { codeOf, messageOf } from '../../text/error.ts'
import type { Log } from '../../model/source.ts'
import { FileMovedError, isCorrupt, setAside } from '../database-file.ts'
import type { Disk } from './disk.ts'
import { HistoryLockedError, openDatabase, type Opened } from './open.ts'
import { NewerSchemaError } from '../schema.ts'

/** Between two tries to reach a disk that is full, read-only or gone. */
const RETRY_MS = 10_000

export type Link = {
  /** Undefined while it cannot be written. */
  readonly disk: () => Disk | undefined
  /** Undefined while it cannot be read either: a full disk still can. */
  readonly reader: () => Disk | undefined
  /** Why the history is in memory only. */
  readonly degraded: () => string | undefined
  /** Runs a transaction; false when it did not happen. */
  readonly attempt: (run: (disk: Disk) => void) => boolean
  /** Notices that the files were removed or replaced; the next `retry` begins with what is there now. */
  readonly check: (now: number) => void
  /** True when the disk, lost before, is there again. `all` that a new database does not know must then be rewritten. */
  readonly retry: (now: number) => boolean
  /** Reading failed. Throws the error again when it is none of the disk's. */
  readonly fail: (error: unknown) => void
  readonly close: () => void
}

/** Throws only what the operator must solve: a directory in use, a database of a newer version. */
export function createLink(directory: string, log: Log, startedAt: number): Link {
  let open: Opened | undefined
  let reason: string | undefined
  let retryAt = 0
  let logged = ''
  let lost: unknown

  const lose = (error: unknown, now: number): void => {
    // Node's messages begin with the code, SQLite's do not.
    const [code, text] = [codeOf(error) ?? 'error', messageOf(error)]
    reason = text.startsWith(code) ? text : `${code}: ${text}`
    retryAt = now + RETRY_MS
    lost = error
    if (logged === reason) return
    logged = reason
    log.error(
      `history cannot be written to ${directory} and is kept in memory only (${reason}): free space or give write permission; tried again every ${RETRY_MS / 1000} s`,
    )
  }
  const connect = (now: number): void => {
    open = openDatabase(directory, log, now)
    reason = undefined
  }
  const disconnect = (): void => {
    const was = open
    open = undefined
    try {
      was?.disk.db.close()
    } catch {
      // Nothing more can be done for it; what matters is in memory or on disk already.
    }
    was?.release()
    if (lost instanceof FileMovedError) for (const watch of was?.watches ?? []) watch.clean()
  }

  try {
    connect(startedAt)
  } catch (error) {
    if (error instanceof HistoryLockedError || error instanceof NewerSchemaError) throw error
    lose(error, startedAt)
  }

  let lastNow = startedAt
  const fail = (error: unknown): void => {
    if (!isCorrupt(error) && !/^SQLITE_|^E[A-Z]+$/.test(codeOf(error) ?? '')) throw error
    if (!isCorrupt(error) || open === undefined) return lose(error, lastNow)
    const file = open.disk.db.name
    reason = `${codeOf(error) ?? 'error'}: ${messageOf(error)}`
    lost = error
    retryAt = 0
    disconnect()
    try {
      log.error(`history ${file} is broken (${messageOf(error)}): set aside as ${setAside(file, lastNow)}, a new one begins`)
    } catch (failed) {
      log.error(`history ${file} is broken (${messageOf(error)}) and cannot be set aside (${messageOf(failed)})`)
    }
  }
  return {
    disk: () => (reason === undefined ? open?.disk : undefined),
    reader: () => open?.disk,
    degraded: () => reason,
    attempt(run) {
      if (open === undefined || reason !== undefined) return false
      const { disk } = open
      try {
        disk.transaction(() => run(disk))
        return true
      } catch (error) {
        fail(error)
        return false
      }
    },
    fail,
    check(now) {
      if (open === undefined || lost instanceof FileMovedError) return
      try {
        for (const watch of open.watches) watch.check()
      } catch (error) {
        if (!(error instanceof FileMovedError)) return fail(error)
        log.error(`history: ${error.message}: begun again with the last minutes, which are still in memory`)
        reason = error.message
        lost = error
        retryAt = now
      }
    },
    retry(now) {
      lastNow = now
      // A clock set back must not put the next try off.
      if (reason === undefined || (now < retryAt && now >= retryAt - RETRY_MS)) return false
      try {
        // A full disk is still read from, so it stays open; what else went wrong may need a new start.
        if (open === undefined || codeOf(lost) !== 'SQLITE_FULL') {
          disconnect()
          connect(now)
        }
        open?.disk.probe()
        reason = undefined
        lost = undefined
        logged = ''
        return true
      } catch (error) {
        if (isCorrupt(error)) fail(error)
        else lose(error, now)
        return false
      }
    },
    close: disconnect,
  }
}
