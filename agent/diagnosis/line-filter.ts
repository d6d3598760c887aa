// Which lines of a log are worth an event: those that hold a literal of any fault family, or a checkpoint mark. Sources get it from outside, as they may not know the families.
import { logScanner } from './log-scanner.ts'

/** Says of the bytes of one line whether it may show a fault (`true`), only that a job saved its state (`mark`), or neither. */
export function createLineFilter(): (bytes: Uint8Array, start: number, end: number) => boolean | 'mark' {
  const { search, familiesOf, isEnd } = logScanner()
  let found: boolean | 'mark' = false
  const hit = (_: number, literal: number): void => {
    if (familiesOf(literal).length > 0) found = true
    else if (!found && !isEnd(literal)) found = 'mark'
  }
  return (bytes, start, end) => {
    found = false
    search.inBytes(bytes, start, end, hit)
    return found
  }
}
