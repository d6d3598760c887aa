// The last lines of one log, whether they matter or not: what a program says before it ends is only understood once it has ended.
import type { LineBatch } from './batch.ts'

export type LogTail = {
  readonly take: (batch: LineBatch) => void
  /** Oldest first. */
  readonly lines: () => readonly string[]
  /** Oldest first; starts over after it. */
  readonly finish: () => readonly string[]
}

/** A chained traceback of several ranks is some 20 kB. A log that says little holds little. */
const MOST_BYTES = 32 * 1024
const FIRST_BYTES = 2 * 1024
/** Of one line, as elsewhere. */
const LINE_BYTES = 4 * 1024
const NEWLINE = 10

export function createLogTail(): LogTail {
  let space = Buffer.allocUnsafeSlow(0)
  let length = 0

  const room = (bytes: number): void => {
    if (length + bytes <= space.length) return
    if (space.length < MOST_BYTES) {
      const larger = Buffer.allocUnsafeSlow(Math.min(MOST_BYTES, Math.max(FIRST_BYTES, 2 * (length + bytes))))
      space.copy(larger, 0, 0, length)
      space = larger
    }
    if (length + bytes <= space.length) return
    // Half of it goes at once, at the end of a line, so that a long log is not moved for each of its lines.
    const cut = space.indexOf(NEWLINE, Math.min(length, length - MOST_BYTES / 2 + bytes)) + 1
    const kept = cut === 0 || cut > length ? length : cut
    space.copyWithin(0, kept, length)
    length -= kept
  }

  const lines = (): readonly string[] => (length === 0 ? [] : space.toString('utf8', 0, length - 1).split('\n'))

  return {
    take(batch) {
      // Of a flood only the end: what is before it would be pushed out at once.
      let first = batch.count
      for (let bytes = 0; first > 0 && bytes < MOST_BYTES / 2; first--)
        bytes += Math.min(LINE_BYTES, (batch.ends[first - 1] ?? 0) - (batch.starts[first - 1] ?? 0)) + 1
      if (first > 0) length = 0
      for (let at = first; at < batch.count; at++) {
        const start = batch.starts[at] ?? 0
        const end = Math.min(batch.ends[at] ?? 0, start + LINE_BYTES)
        room(end - start + 1)
        length += batch.bytes.copy(space, length, start, end)
        space[length++] = NEWLINE
      }
    },
    lines,
    finish() {
      const found = lines()
      space = Buffer.allocUnsafeSlow(0)
      length = 0
      return found
    },
  }
}
