// What our databases share as files: one that is broken is set aside, one that was removed or replaced while it is open is noticed.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { codeOf } from '../text/error.ts'

/** What SQLite has nothing against, and what is no database of ours all the same: another program's, or an emptied one. */
export class BrokenFileError extends Error {
  override readonly name = 'BrokenFileError'
}
export const isCorrupt = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error) ?? '') || error instanceof BrokenFileError

/** Renames a closed database and what belongs to it, so that it can still be looked at; never over an earlier one. Returns the new name. */
export function setAside(file: string, now: number): string {
  const wanted = `${file}.broken-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`
  let aside = wanted
  for (let n = 2; existsSync(aside); n++) aside = `${wanted}-${n}`
  for (const suffix of ['', '-wal', '-shm']) {
    try {
      renameSync(file + suffix, aside + suffix)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
  return aside
}

/** The open file is not the one that its path leads to: SQLite would go on writing to a deleted file. */
export class FileMovedError extends Error {
  override readonly name = 'FileMovedError'
}
export type FileWatch = {
  /** Throws FileMovedError once the file was removed or replaced, BrokenFileError once it was emptied. */
  readonly check: () => void
  /** For a moved file, before what is there now is opened: removes its write-ahead log, which SQLite would take for that of the file that is there now. */
  readonly clean: () => void
}

type Identity = { readonly dev: number; readonly ino: number; readonly size: number }
const identityOf = (file: string): Identity | undefined => {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    // A part of the path is no directory any more, or cannot be entered.
    return undefined
  }
}
const isSame = (a: Identity | undefined, b: Identity | undefined): boolean => a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino

/** To be called right after the file was opened. */
export function watchFile(file: string): FileWatch {
  const opened = identityOf(file)
  let log: Identity | undefined
  return {
    check() {
      const now = identityOf(file)
      if (now === undefined) throw new FileMovedError(`${file} was removed while it was in use`)
      if (!isSame(opened, now)) throw new FileMovedError(`${file} was replaced while it was in use`)
      if (opened !== undefined && opened.size > 0 && now.size === 0) throw new BrokenFileError(`${file} was emptied while it was in use`)
      log = identityOf(`${file}-wal`) ?? log
    },
    clean() {
      if (isSame(log, identityOf(`${file}-wal`))) for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
      // The next file may get its number.
      log = undefined
    },
  }
}
