// Follows one file by its name: what is appended, renamed away (logrotate), truncated in place (copytruncate), and goes on after a restart.
import { closeSync, constants, fstatSync, openSync, readSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { LineBatch } from '../logs/batch.ts'
import { createLineBuffer } from '../logs/line-buffer.ts'
import type { LogCounters } from '../logs/metrics.ts'
import { FINGERPRINT_BYTES, fingerprint, formatCursor, parseCursor, sameBeginning, type FileCursor, type Fingerprint } from './fingerprint.ts'

export type TailOptions = {
  readonly path: string
  readonly cursor: string | undefined
  /** Where to begin without a cursor. */
  readonly from: 'begin' | 'end'
  readonly counters: LogCounters
  /** Whole lines; `offset` is where the first byte of the batch's bytes is in the file. The batch is reused. */
  readonly onBatch: (batch: LineBatch, offset: number) => void
  /** The newest bytes of a line that has no end yet. */
  readonly onOpenLine?: (bytes: Uint8Array) => void
  /** The file under that name is another one now. */
  readonly onTurned: () => void
}
export type Tail = {
  /** Opens the file where reading begins, so that what is written from now on is read. Throws as `read` does. */
  readonly place: () => void
  /** Reads on, a bounded amount; true when there is more. Throws what the system says, but not that there is no such file. */
  readonly read: () => boolean
  /** Of all that was handed on. */
  readonly cursor: () => string | undefined
  /** The end of the file as far as it is unread, bytes; undefined without a file. */
  readonly close: () => void
}

const BUFFER_BYTES = 256 * 1024
/** One buffer for all files: only the begun line is kept between reads, in a copy of its own. */
const SHARED = Buffer.allocUnsafeSlow(BUFFER_BYTES)
/** A line without its end is judged after so long. */
const UNFINISHED_MS = 1_000

type File = { readonly fd: number; readonly device: number; readonly inode: number; position: number; beginning: Fingerprint }

export function createTail(options: TailOptions): Tail {
  const { path, counters, onBatch, onTurned } = options
  const lines = createLineBuffer({ onBatch, onCut: () => counters.skip('cut') })
  let saved = parseCursor(options.cursor)
  let from = options.from
  let file: File | undefined
  /** Files that were renamed away while nobody looked, oldest first, to be read before the one under the name. */
  let earlier: File[] = []
  let readAt = 0

  const openAt = (name: string, position: number): File => {
    // A pipe under a log's name would hold up the whole agent until someone writes into it; O_NONBLOCK changes nothing for a file.
    const fd = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) throw new Error(`${name} is no file but a pipe, a device, a socket or a directory. Take it out of logs.files`)
      const { dev, ino } = stat
      return { fd, device: dev, inode: ino, position, beginning: fingerprint(fd) }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }
  /** The file of the cursor among those that were renamed, and the newer ones of them. */
  const renamed = (cursor: FileCursor): File[] => {
    const real = realpathSync(path)
    const directory = dirname(real)
    const stem = basename(real)
    const found = readdirSync(directory)
      .filter((name) => name !== stem && name.startsWith(stem) && !/\.(gz|xz|zst|bz2)$/.test(name))
      .flatMap((name) => {
        const stat = statSync(join(directory, name), { throwIfNoEntry: false })
        return stat?.isFile() === true ? [{ name: join(directory, name), stat }] : []
      })
    const ours = found.find(({ stat }) => stat.dev === cursor.device && stat.ino === cursor.inode && stat.size >= cursor.offset)
    if (ours === undefined) return []
    const first = openAt(ours.name, cursor.offset)
    if (!sameBeginning(first.fd, cursor.beginning)) {
      closeSync(first.fd)
      return []
    }
    const newer = found.filter(({ stat }) => stat.mtimeMs > ours.stat.mtimeMs).sort((a, b) => a.stat.mtimeMs - b.stat.mtimeMs)
    return [first, ...newer.map(({ name }) => openAt(name, 0))]
  }
  const open = (): void => {
    const opened = openAt(path, 0)
    const size = fstatSync(opened.fd).size
    const cursor = saved
    saved = undefined
    if (cursor === undefined) opened.position = from === 'end' ? size : 0
    else if (cursor.device === opened.device && cursor.inode === opened.inode && cursor.offset <= size && sameBeginning(opened.fd, cursor.beginning))
      opened.position = cursor.offset
    else {
      earlier = renamed(cursor)
      // Neither here nor beside it: it was deleted, or cut off; how much of it was unread nobody knows.
      if (earlier.length === 0) counters.skip('truncated')
    }
    from = 'begin'
    file = opened
  }
  /** One buffer's worth; the number of bytes read. */
  const readSome = (from: File): number => {
    const read = readSync(from.fd, SHARED, 0, BUFFER_BYTES, from.position)
    if (read === 0) return 0
    const offset = from.position
    from.position += read
    readAt = performance.now()
    lines.push(SHARED.subarray(0, read), offset)
    if (lines.held() > 0) options.onOpenLine?.(lines.newest())
    if (from.beginning.length < FINGERPRINT_BYTES) from.beginning = fingerprint(from.fd)
    return read
  }
  const close = (which: File): void => closeSync(which.fd)

  const place = (stat = statSync(path, { throwIfNoEntry: false })): void => {
    if (file !== undefined) return
    if (stat === undefined) from = 'begin'
    else open()
  }

  return {
    place: () => place(),
    read() {
      const stat = statSync(path, { throwIfNoEntry: false })
      place(stat)
      if (file === undefined) return false
      const older = earlier[0]
      if (older !== undefined) {
        if (readSome(older) > 0) return true
        lines.finish()
        close(older)
        earlier.shift()
        return true
      }
      const turned = stat !== undefined && (stat.ino !== file.inode || stat.dev !== file.device)
      if (!turned && stat !== undefined && (stat.size < file.position || (stat.size > file.position && !sameBeginning(file.fd, file.beginning)))) {
        counters.skip('truncated')
        lines.reset()
        file.position = 0
        file.beginning = fingerprint(file.fd)
        onTurned()
      }
      // A name that has gone may still be written to by whoever holds it open.
      if (stat === undefined || turned || stat.size > file.position) {
        if (readSome(file) > 0) return true
      }
      if (turned) {
        lines.finish()
        close(file)
        file = undefined // what has its name now may be no file, or not ours to read
        file = openAt(path, 0)
        onTurned()
        return true
      }
      if (lines.held() > 0 && performance.now() - readAt > UNFINISHED_MS) lines.finish()
      return false
    },
    cursor() {
      const current = earlier[0] ?? file
      if (current === undefined) return options.cursor
      return formatCursor({ device: current.device, inode: current.inode, offset: current.position - lines.held(), beginning: current.beginning })
    },
    close() {
      for (const which of earlier) close(which)
      if (file !== undefined) close(file)
      earlier = []
      file = undefined
    },
  }
}
