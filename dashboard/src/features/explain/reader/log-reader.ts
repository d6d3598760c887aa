// A log of any size, read piece by piece: the pieces for the search, and afterwards the lines around what was found. Never held whole.
import { createLineSplitter } from '../../../../../agent/text/line-splitter.ts'
import { PASTED_LIMIT, pastedLines } from '../../../../../agent/diagnosis/explain.ts'
import { countNewlines } from '../../../../../agent/diagnosis/newlines.ts'

/** A file that is no text to begin with. */
export type NotText = 'gzip' | 'zstd' | 'zip' | 'xz' | 'utf-16'

export type LogLine = { readonly line: number; readonly text: string }
/** Both ends are part of it; lines count from 1. */
export type LogWindow = { readonly from: number; readonly to: number }

/** Shown whole up to here. */
const WHOLE_LINES = 400
const AROUND = 12
/** A page of more lines is read by nobody, and slow. */
const SHOWN_LINES = 3_000

/** In the order of the log. What does not fit is left out from the end of `marked`: the most important comes first there. */
export function windowsAround(marked: readonly number[], lineCount: number): readonly LogWindow[] {
  if (lineCount <= WHOLE_LINES) return [{ from: 1, to: lineCount }]
  const shown = new Set<number>()
  for (const mark of marked) {
    if (shown.size >= SHOWN_LINES) break
    for (let line = Math.max(1, mark - AROUND); line <= Math.min(lineCount, mark + AROUND); line += 1) shown.add(line)
  }
  const windows: { from: number; to: number }[] = []
  for (const line of [...shown].sort((a, b) => a - b)) {
    const last = windows.at(-1)
    if (last !== undefined && last.to === line - 1) last.to = line
    else windows.push({ from: line, to: line })
  }
  return windows
}

const BEGINNINGS: readonly (readonly [kind: NotText, bytes: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58]],
  // Byte order marks; PowerShell writes so into files.
  ['utf-16', [0xff, 0xfe]],
  ['utf-16', [0xfe, 0xff]],
]

/** What a file is in which no log can be found as it is, by its first bytes. */
export const notTextOf = (first: Uint8Array): NotText | undefined => BEGINNINGS.find(([, bytes]) => bytes.every((byte, i) => first[i] === byte))?.[0]

/** Large enough that what is held over between pieces costs little; progress is told after each. */
const PIECE_BYTES = 4 * 2 ** 20
/** Where lines are is remembered this often. */
const MARK_BYTES = 2 ** 18
/** Of a line that is shown. */
const SHOWN_CHARACTERS = 2_000
const NEWLINE = 10

export type LogReader = {
  readonly pieces: () => Generator<Uint8Array>
  /** When all pieces were read. */
  readonly lineCount: () => number
  /** The lines around the marked ones; when all pieces were read. */
  readonly linesAround: (marked: readonly number[]) => readonly LogLine[]
}

const cut = (text: string): string => (text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} […cut]` : text)

export function createLogReader(size: number, read: (from: number, to: number) => Uint8Array, onRead: (bytes: number) => void = () => {}): LogReader {
  /** Line `line` holds the byte at `offset`. */
  const marks = [{ offset: 0, line: 1 }]
  let line = 1
  let short: readonly string[] | undefined
  let ended = false

  function* pieces(): Generator<Uint8Array> {
    for (let from = 0; from < size; from += PIECE_BYTES) {
      const piece = read(from, Math.min(size, from + PIECE_BYTES))
      for (let at = 0; at < piece.length; at += MARK_BYTES) {
        const to = Math.min(piece.length, at + MARK_BYTES)
        line += countNewlines(piece, at, to)
        marks.push({ offset: from + to, line })
      }
      ended = piece.at(-1) === NEWLINE
      yield piece
      onRead(Math.min(size, from + PIECE_BYTES))
    }
  }

  /** The lines from the mark on; the first may be the end of one. */
  function* linesFrom(mark: { readonly offset: number; readonly line: number }): Generator<LogLine> {
    let number = mark.line
    const decoder = new TextDecoder()
    // One more than is shown, so that `cut` knows.
    const splitter = createLineSplitter({ maxChars: SHOWN_CHARACTERS + 1, overlong: 'cut' })
    const shown = (text: string): LogLine => ({ line: number++, text: cut(text.replace(/\r$/, '')) })
    for (let from = mark.offset; from < size; from += MARK_BYTES) {
      const text = decoder.decode(read(from, Math.min(size, from + MARK_BYTES)), { stream: true })
      for (const each of splitter.push(text)) yield shown(each)
    }
    for (const each of [...splitter.push(decoder.decode()), ...splitter.end()]) yield shown(each)
  }

  function* within(windows: readonly LogWindow[]): Generator<LogLine> {
    for (const { from, to } of windows) {
      const mark = marks.findLast((each) => each.line < from) ?? { offset: 0, line: 1 }
      for (const each of linesFrom(mark)) {
        if (each.line > to) break
        if (each.line >= from) yield each
      }
    }
  }

  const shortLines = (): readonly string[] => (short ??= pastedLines(new TextDecoder().decode(read(0, size))))
  const isShort = size <= PASTED_LIMIT
  // After the last line end there is no line.
  const lineCount = (): number => (isShort ? shortLines().length : line) - (ended ? 1 : 0)
  return {
    pieces,
    lineCount,
    linesAround(marked) {
      const windows = windowsAround(marked, lineCount())
      if (!isShort) return [...within(windows)]
      return windows.flatMap(({ from, to }) =>
        shortLines()
          .slice(from - 1, to)
          .map((text, i) => ({ line: from + i, text: cut(text) })),
      )
    },
  }
}
