// Rich prints a log as a table, with the source file and line in the right-hand column. A long message wraps, so that the file name ends up in the middle of a sentence.
import type { Unwrap } from './json.ts'

/** The end of a line, in which the file stands: a line may be long, and nothing but spaces. */
const TAIL = 120
const PLACE = /\s{2,50}[\w.-]{1,60}\.py:\d{1,6}\s{0,8}$/
const HEAD = /^\s{0,24}(?:\[?[\d/: ,.-]{5,24}\]?\s{1,8})?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\s{1,9}\S/
const CONTINUES = /^\s{8,}\S/

/** Undefined where no record goes on below. */
export const richRecords = (sample: readonly string[]): Unwrap | undefined =>
  sample.some((line, at) => HEAD.test(line) && PLACE.test(line.slice(-TAIL)) && CONTINUES.test(sample[at + 1] ?? ''))
    ? (line) => (PLACE.test(line.slice(-TAIL)) ? `${line.slice(0, -TAIL)}${line.slice(-TAIL).replace(PLACE, '')}`.trimEnd() : line)
    : undefined
