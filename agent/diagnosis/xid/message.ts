// The message of an Xid after its number: how many lines it spans, process and pid, and the driver's own text.
import { bareKernelText } from '../../text/line-prefix.ts'
import type { LogText } from '../faults/family.ts'
import { whole } from '../faults/parts/window.ts'

// The pid is the host's, a name is cut at 15 characters and may hold blanks; either may be unknown.
const PID = /^, pid='?(\d{1,10})\b/
const NAME = /, {0,4}name=(?!<unknown>)([^,\n]{1,40})/

const MOST_LINES = 3
/** How such a message goes on where a terminal or an author broke it. */
const INNER = /^(?:name=|errorString|channel 0x|intr |Fault is of|MMU Fault|\()/
const deeper = (next: string, first: string): boolean => {
  const indent = (line: string): number => line.length - line.trimStart().length
  return /^\s{4,}(?:[a-z]|\()/.test(next) && indent(next) >= indent(first) + 4
}

/** How many of the next lines belong to the message. */
export function continuation(text: LogText, at: number): number {
  let more = 0
  while (more < MOST_LINES) {
    const next = text[at + more + 1]
    if (next === undefined || /Xid|NVRM/.test(next)) break
    const open = more === 0 && /,\s*$/.test(text[at] ?? '')
    if (!open && !INNER.test(bareKernelText(next)) && !deeper(next, text[at] ?? '')) break
    more += 1
  }
  return more
}

export function processOf(rest: string): { readonly pid: number | undefined; readonly process: string | undefined } {
  const name = NAME.exec(rest)?.[1]?.trim()
  // 0 is no process: the kernel itself was at work.
  const pid = whole(PID.exec(rest)?.[1])
  return { pid: pid === 0 ? undefined : pid, process: name === undefined || name === '' ? undefined : name }
}

/** The driver's own text, which follows process, channel and engine mask. */
export function wordsOf(rest: string): string | undefined {
  const words = rest
    .slice(0, 1_000)
    // Another program's output on the same line, such as Ansible's result.
    .replace(/\)? {0,2}=> \{.*|\bNVRM: Xid \(.*/s, '')
    .replace(/^,? ?pid=[^,]{1,20},?/, '')
    .replace(/^,? {0,4}name=[^,]{0,40},?/, '')
    .replace(/^[\s,]+/, '')
    .replace(/^(?:(?:[Cc]hannel (?:ID )?(?:0x)?[0-9a-f]{1,8}|Ch [0-9a-f]{8}|engmask [0-9a-f]{8}|intr0? [0-9a-f]{8})[\s,.]{0,4}){1,3}/, '')
    .replace(/\s+/g, ' ')
    .replace(/[\s.,"]+$/, '')
  // Registers in hexadecimal say nothing to a reader.
  return /[a-z]{4}/i.test(words.replace(/\b[0-9a-f]{8}\b/g, '')) ? words.slice(0, 200) : undefined
}

const WARP = /NVRM: Xid \(\S{4,24}\): 13, [^\n]{0,120}?\b((?:Graphics )?SM Warp Exception on \([^)\n]{4,60}\): [A-Z][\w ]{4,60}\w)/
/** Of one exception the driver writes several lines: the one with registers (ESR) may come first, and those near it say what it was. */
export const exceptionOf = (words: string | undefined, text: LogText, at: number): string | undefined =>
  words !== undefined && words.startsWith('Graphics Exception: ESR')
    ? (text
        .slice(Math.max(0, at - 2), at + 3)
        .map((line) => WARP.exec(line)?.[1])
        .find((said) => said !== undefined) ?? words)
    : words

const UPTIME = /\[ {0,6}(\d{1,9})\.\d{1,6} ?\]/
const CLOCK = /^(.{0,40}?\b)(\d\d):(\d\d):\d\d/
const SOON_S = 120
/** Whether two lines were written within two minutes; true where one has no time, as in an excerpt. */
export function together(a: string, b: string): boolean {
  const [first, second] = [UPTIME.exec(a)?.[1], UPTIME.exec(b)?.[1]]
  if (first !== undefined && second !== undefined) return Math.abs(Number(second) - Number(first)) <= SOON_S
  const [before, after] = [CLOCK.exec(a), CLOCK.exec(b)]
  if (before === null || after === null) return true
  const minutes = Number(after[2]) * 60 + Number(after[3]) - Number(before[2]) * 60 - Number(before[3])
  return before[1] === after[1] && Math.abs(minutes) * 60 <= SOON_S
}
