// Makes one message of what was pasted or printed over several lines: prefixes, wraps, escapes and colours removed.
import type { LogText } from './faults/family.ts'

/** Colours and other terminal sequences (ECMA-48 CSI). */
const ANSI = /\u001b\[[0-9;?]{0,20}[ -/]?[@-~]/g

/**
 * What stands before a message and is repeated on each of its lines. Tried again and again from the line's start, so that
 * `trainer-1  | [rank0]: ` goes whole. Each is anchored and has bounded counts: linear.
 */
const PREFIXES: readonly RegExp[] = [
  /^[\s>#|*│┃]{1,80}/,
  // a compose service or `kubectl logs --prefix`
  /^[A-Za-z0-9][\w.-]{0,60} {0,30}\| /,
  /^\[pod\/[\w./-]{1,200}\] /,
  /^\[?(?:rank|Rank|RANK) ?\d{1,6}\]?: ?/,
  // vLLM, Ray: (EngineCore_0 pid=72), (Worker_TP1 pid=499), (ServeController pid=1, ip=10.0.0.1)
  /^\([A-Za-z][\w.:<>-]{0,80}(?: [^()]{1,120})?\) ?/,
  // RFC 3339 and its relatives, with what CRI adds
  /^\[?\d{4}[-/]\d\d[-/]\d\d[T ,_]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?:? ?(?:(?:stdout|stderr) [FP] )?/,
  // syslog
  /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./()-]{1,64}(?:\[\d{1,10}\])?: ?/,
  // dmesg
  /^\[ {0,6}\d{1,9}\.\d{1,6}\] ?/,
  // vLLM and other Python loggers: ERROR 03-04 07:29:31 [core.py:700]
  /^(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)[: ] ?\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? (?:\[[\w./-]{1,80}:\d{1,6}\]|[\w./-]{1,80}:\d{1,6}\]) ?/,
]

/** The line without what only says who printed it, and when. */
export function stripPrefix(line: string): string {
  let rest = line.includes('\u001b') ? line.replace(ANSI, '') : line
  for (let round = 0; round < 5; round += 1) {
    const before = rest.length
    for (const prefix of PREFIXES) rest = rest.replace(prefix, '')
    if (rest.length === before) break
  }
  return rest
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&nbsp;': ' ' }

/** HTML entities, backslash escapes of repr() and JSON, and colours turned into what they stand for; runs of blanks into one. */
export function plain(text: string): string {
  let out = text.includes('\u001b') ? text.replace(ANSI, '') : text
  if (out.includes('&')) {
    out = out.replace(/&(?:#\d{1,6}|#x[0-9a-fA-F]{1,5}|[a-z]{2,5});/g, (entity) => {
      const named = ENTITIES[entity]
      if (named !== undefined) return named
      const code = entity.startsWith('&#x') ? Number.parseInt(entity.slice(3, -1), 16) : Number(entity.slice(2, -1))
      return Number.isInteger(code) && code > 0 && code < 0x10_000 ? String.fromCharCode(code) : entity
    })
  }
  if (out.includes('\\')) out = out.replace(/\\{1,3}[nrt]/g, ' ').replace(/\\{1,3}(["'])/g, '$1')
  return out.replace(/\s+/g, ' ')
}

/** How far a joined message may grow: longer than any message with figures, and short enough for many candidates. */
const JOINED_LIMIT = 8_192

/** The message that begins in line `at`, with the lines that may continue it, as one line of plain text. */
export function joinedFrom(text: LogText, at: number, maxLines: number): string {
  let out = stripPrefix(text[at] ?? '')
  for (let i = at + 1; i < Math.min(text.length, at + maxLines) && out.length < JOINED_LIMIT; i += 1) out += ` ${stripPrefix(text[i] ?? '')}`
  return plain(out.length > JOINED_LIMIT * 2 ? out.slice(0, JOINED_LIMIT * 2) : out)
}

/**
 * How many lines from `at` on the joined message covers up to its character `length`: for the evidence.
 * Counted on the plain lines, so it is exact to a line or two where escapes were decoded.
 */
export function linesCovered(text: LogText, at: number, length: number): readonly number[] {
  const lines = [at]
  let covered = plain(stripPrefix(text[at] ?? '')).length
  for (let i = at + 1; i < text.length && covered < length; i += 1) {
    lines.push(i)
    covered += plain(stripPrefix(text[i] ?? '')).trim().length + 1
  }
  return lines
}
