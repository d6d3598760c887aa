// A log of any size, read piece by piece: the pieces for the search, and afterwards the lines around what was found. Never held whole.
import { PASTED_LIMIT, pastedLines } from '../../../agent/diagnosis/explain.ts'
import { countNewlines } from '../../../agent/diagnosis/newlines.ts'
import { createLineSplitter } from '../../../agent/text/line-splitter.ts'
import { windowsAround, type LogLine, type LogWindow } from './windows.ts'

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
