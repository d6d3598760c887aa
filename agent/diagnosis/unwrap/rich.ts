// Rich prints a log as a table: time and level on the left, the place in the code on the right, and what is too long goes on below, indented. The place then stands in the middle of a sentence.
import type { Unwrap } from './json.ts'

const PLACE = /\s{2,}[\w.-]{1,60}\.py:\d{1,6}\s*$/
const RECORD = /^\s{0,24}(?:\[?[\d/: ,.-]{5,24}\]?\s+)?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\s{1,9}\S.*\s{2,}[\w.-]{1,60}\.py:\d{1,6}\s*$/
const CONTINUES = /^\s{8,}\S/

/** Undefined where no record goes on below. */
export const richRecords = (sample: readonly string[]): Unwrap | undefined =>
  sample.some((line, at) => RECORD.test(line) && CONTINUES.test(sample[at + 1] ?? '')) ? (line) => line.replace(PLACE, '') : undefined
