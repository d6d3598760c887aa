// The last call of a sampler child, kept past its death: a process that crashed may be reaped before anybody can read its thread's name.
import { closeSync, ftruncateSync, openSync, readSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'

export type CallRecord = {
  /** The child inherits it and writes the call to its beginning. */
  readonly fd: number
  /** What was written last; empty: nothing. */
  readonly read: () => string
  readonly close: () => void
}

/** As long as a thread's name. */
const BYTES = 16

/** A file in memory where there is a place for one, without a name, so that nothing is left behind. undefined: no folder can be written. */
export function openCallRecord(folders: readonly string[] = ['/dev/shm', tmpdir()]): CallRecord | undefined {
  for (const folder of folders) {
    const path = join(folder, `warpwatch-call-${randomUUID()}`)
    try {
      const fd = openSync(path, 'wx+', 0o600)
      unlinkSync(path)
      // A page that is mapped beyond the end of its file cannot be written.
      ftruncateSync(fd, BYTES)
      const bytes = Buffer.alloc(BYTES)
      return {
        fd,
        read() {
          const text = bytes.toString('latin1', 0, readSync(fd, bytes, 0, BYTES, 0))
          return text.split('\0', 1)[0] ?? ''
        },
        close: () => closeSync(fd),
      }
    } catch {
      // The next folder.
    }
  }
  return undefined
}
