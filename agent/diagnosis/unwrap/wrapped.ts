// Lines that a terminal broke at its width, in the middle of words, and that were copied so: put together again.
import { beginsRecord, stripPrefix } from '../../text/line-prefix.ts'

/** No terminal with logs in it is narrower. */
const NARROWEST = 60
/** Lines of one terminal lie so close together. */
const NEAR = 8
/** A message with figures takes no more lines. */
const PIECES = 12
/** Bars, rules, starts of a new record, and what a shell says of a program's end: never a piece of a word. */
const OWN_LINE = /^[\s|+=~^#*>$%@┃│╭╰├─-]|^\w{1,20}Error\b|^File "|^(?:Killed|Terminated|Aborted|Hangup|Segmentation fault|Bus error|Illegal instruction)\b/
/** A loop prints lines that begin alike, and may be as long as each other. */
const FIRST_WORD = /^\w{2,40}\b/

/** The line at `at` is full, and the next one goes on with it. */
function goesOn(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  // The break may have come before a blank.
  const next = (lines[at + 1] ?? '').replace(/^ (?=\S)/, '')
  if (line.length < NARROWEST || next === '' || OWN_LINE.test(next) || beginsRecord(next) || stripPrefix(next) !== next) return false
  const word = FIRST_WORD.exec(next)?.[0]
  let same = 0
  for (let near = Math.max(0, at - NEAR); near <= Math.min(lines.length - 1, at + NEAR); near += 1) {
    const length = lines[near]?.length ?? 0
    if (word !== undefined && near !== at + 1 && FIRST_WORD.exec(lines[near] ?? '')?.[0] === word) return false
    if (length > line.length) return false
    if (length === line.length) same += 1
  }
  return same >= 2
}
/** Only a break inside a word shows that it was the terminal's. */
const insideWord = (lines: readonly string[], at: number): boolean => /[a-z]$/.test(lines[at] ?? '') && /^[a-z]/.test(lines[at + 1] ?? '')

/** Each line keeps its number: what is put together is in its first line, and the others are empty. */
export function withoutWraps(lines: readonly string[]): readonly string[] {
  const broken = lines.flatMap((line, at) => (line.length >= NARROWEST && goesOn(lines, at) ? [at] : []))
  const widths = new Set(broken.filter((at) => insideWord(lines, at)).map((at) => lines[at]?.length))
  if (widths.size === 0) return lines
  const whole = [...lines]
  let head = -1
  for (const at of broken) {
    if (!widths.has(lines[at]?.length)) continue
    // A piece that goes on itself belongs to the line above it.
    if (head < 0 || whole[at] !== '' || at - head > PIECES) head = at
    whole[head] = `${whole[head] ?? ''}${lines[at + 1] ?? ''}`
    whole[at + 1] = ''
  }
  return whole
}
