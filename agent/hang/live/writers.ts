// Who writes a log file: the processes whose standard output or standard error it is.
import { readdirSync, statSync } from 'node:fs'

/** Of several in one line of descent the caller looks below each anyway; the first are the oldest. */
const MOST_WRITERS = 64

export function writersOf(path: string): readonly number[] {
  const found: number[] = []
  const wanted = statSync(path)
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid || found.length >= MOST_WRITERS) continue
    for (const descriptor of [1, 2]) {
      try {
        const { dev, ino } = statSync(`/proc/${name}/fd/${descriptor}`)
        if (dev !== wanted.dev || ino !== wanted.ino) continue
        found.push(Number(name))
        break
      } catch {
        // Gone, or of another user.
      }
    }
  }
  return found
}
