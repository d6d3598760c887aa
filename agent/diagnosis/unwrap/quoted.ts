// Lines as a mail quotes them, as a post sets them in marks of code or in quotes, and with the task number of `srun --label`.
import type { Unwrap } from './json.ts'
import { begins } from './learned-prefix.ts'

const LEAST = 2
const isSaid = (line: string): boolean => line.trim() !== ''

/** The lines without the marks of a quote, where all have them. */
export function withoutQuotes(lines: readonly string[]): readonly string[] {
  const said = lines.filter(isSaid)
  if (said.length < LEAST || !said.every((line) => line.startsWith('>'))) return lines
  const marks = said.every((line) => line.length === 1 || line.startsWith('> ')) ? 2 : 1
  return lines.map((line) => line.slice(marks))
}

/** A line that is set as code by itself: `` `  File "fit.py", line 9, in <module>` ``. */
const TICKED = /^\s{0,8}`(?!`)([^`\n]{1,2000})`\s{0,8}$/
/** `I get the following error: "slurmstepd: error: …"`: what a person says of it is before it in the same line. */
const SAID =
  /^(?!.{0,60}\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR)\b)[^"“`*\n]{0,240}\b(?:I|my|me|we|it (?:returns?|says?|gives?|prints?|shows?)|following|getting)\b[^"“`*\n]{0,120}(?:["“`]|\*\*)([^"”`*\n][^"”`\n]{9,800}?)(?:["”`]|\*\*)[.!?]?\s*$/
const LONGEST_SAID = 1_000
function saidIn(line: string): string | undefined {
  const said = line.length > LONGEST_SAID ? undefined : SAID.exec(line)?.[1]
  return said !== undefined && begins(said) ? said : undefined
}
const MARK = /["`“*]/
/** Shorter lines are code of their own. */
const SHORTEST = 8
/** The first and the last line of a text in one pair of marks have one of them each, at their end. */
function withoutMark(line: string, mark: string): string {
  const at = line.indexOf(mark)
  if (at < 0 || line.includes(mark, at + 1)) return line
  if (at === 0) return line.length < SHORTEST ? line : line.slice(1)
  return line.slice(at + 1).trim() === '' ? line.slice(0, at) : line
}
/** The lines without the marks of code or the quotes that a post puts around them. */
export function withoutMarks(lines: readonly string[]): readonly string[] {
  const ticked = lines.filter((line) => TICKED.test(line)).length >= LEAST
  return lines.map((line) => {
    if (!MARK.test(line)) return line
    return TICKED.test(line) && (ticked || begins(TICKED.exec(line)?.[1] ?? ''))
      ? line.replace(TICKED, '$1')
      : (saidIn(line) ?? withoutMark(withoutMark(line, '`'), '"'))
  })
}

/** Not the hour of a clock time: 14:50:02. */
const TASK = /^ {0,3}(\d{1,4}): ?(?!\d\d:\d\d)/
const SHARE = 0.9
/** The task number as torchrun prints a rank, where nearly all lines have one. */
export function taskNumbers(sample: readonly string[]): Unwrap | undefined {
  const said = sample.filter(isSaid)
  const tasks = said.filter((line) => TASK.test(line)).length
  if (tasks < LEAST || tasks < SHARE * said.length) return undefined
  return (line) => {
    const [head, number] = TASK.exec(line) ?? []
    return head === undefined ? undefined : `[${number}]: ${line.slice(head.length)}`
  }
}
