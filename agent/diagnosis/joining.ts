// Makes one message of what was pasted or printed over several lines: prefixes, wraps, escapes and colours removed.
import { stripPrefix, withoutColours } from '../text/line-prefix.ts'
import type { LogText } from './faults/family.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&nbsp;': ' ' }

/** Two blanks in a row, or one that is no space. */
const UNEVEN = /\s\s|[^\S ]/

/** A path of Windows, in which `\torch` and `\numpy` are folders, or an escape. */
const PATH_OR_ESCAPE = /(?<![A-Za-z])[A-Za-z]:(?:\\{1,2}[^\\"'<>|:*?\n]{1,100}){1,24}|\\{1,3}[nrt]/g
/** There the path ends: what follows may be an escape again. */
const FILE_END = /\.(?:py[cd]?|dll|exe|bat|cu|cpp|h|log|txt|json|ya?ml|gguf|safetensors|ckpt|pth?|bin|onnx)(?=\s|\\{1,3}[nrt])/
function unescaped(found: string): string {
  if (found.startsWith('\\')) return ' '
  const end = FILE_END.exec(found)
  if (end === null) return found
  const cut = end.index + end[0].length
  return found.slice(0, cut) + found.slice(cut).replace(/\\{1,3}[nrt]/g, ' ')
}

/** HTML entities, backslash escapes of repr() and JSON, and colours turned into what they stand for; runs of blanks into one. */
export function plain(text: string): string {
  let out = withoutColours(text)
  if (out.includes('&')) {
    out = out.replace(/&(?:#\d{1,6}|#x[0-9a-fA-F]{1,5}|[a-z]{2,5});/g, (entity) => {
      const named = ENTITIES[entity]
      if (named !== undefined) return named
      const code = entity.startsWith('&#x') ? Number.parseInt(entity.slice(3, -1), 16) : Number(entity.slice(2, -1))
      return Number.isInteger(code) && code > 0 && code < 0x10_000 ? String.fromCharCode(code) : entity
    })
  }
  if (out.includes('\\')) out = out.replace(PATH_OR_ESCAPE, unescaped).replace(/\\{1,3}(["'])/g, '$1')
  // Most lines have single blanks only: to look costs less than to copy.
  return UNEVEN.test(out) ? out.replace(/\s+/g, ' ') : out
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
