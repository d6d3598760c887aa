// Who writes a log file: the processes whose standard output or standard error it is.
import { statSync } from 'node:fs'
import type { ProcessTree } from './process.ts'

/** Of several in one line of descent the caller looks below each anyway. */
const MOST_WRITERS = 64

/** The oldest first: what a job starts later writes to the same file. */
export function writersOf(path: string, { pids }: Pick<ProcessTree, 'pids'>, procRoot = '/proc'): readonly number[] {
  const found: number[] = []
  const wanted = statSync(path)
  for (const pid of pids) {
    if (pid === process.pid || found.length >= MOST_WRITERS) continue
    for (const descriptor of [1, 2]) {
      try {
        const { dev, ino } = statSync(`${procRoot}/${pid}/fd/${descriptor}`)
        if (dev !== wanted.dev || ino !== wanted.ino) continue
        found.push(pid)
        break
      } catch {
        // Gone, or of another user.
      }
    }
  }
  return found
}
