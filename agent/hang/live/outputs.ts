// What the ranks of a running job wrote last, where that goes into files: the ends of their standard output and standard error.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { readLog } from '../evidence/log.ts'
import type { Evidence } from '../model.ts'

const MOST_BYTES = 64 * 1024

/** Undefined for pipes, terminals and sockets, which belong to whoever reads them. */
function endOfFile(path: string, seen: Set<string>): string | undefined {
  // Asked before it is opened: opening a pipe is seen by the other end.
  if (!statSync(path).isFile()) return undefined
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  try {
    const { size, dev, ino } = fstatSync(descriptor)
    const key = `${dev}:${ino}`
    if (seen.has(key)) return undefined
    seen.add(key)
    const bytes = Buffer.alloc(Math.min(size, MOST_BYTES))
    const read = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString('utf8', 0, read)
  } finally {
    closeSync(descriptor)
  }
}

/** `ranks`: their processes. A file that several ranks share says itself whose lines they are. */
export function readOutputs(ranks: ReadonlyMap<number, number>, evidence: Evidence): void {
  const seen = new Set<string>()
  for (const [rank, pid] of ranks)
    for (const descriptor of [1, 2]) {
      try {
        const text = endOfFile(`/proc/${pid}/fd/${descriptor}`, seen)
        if (text === undefined) continue
        readLog(text, ranks.size === 1 ? rank : undefined, evidence)
        evidence.sources.add('output of the ranks')
      } catch {
        // Closed, deleted, or not to be read by this user.
      }
    }
}
