// Which parts of a log that is too long to be held the reader of ends gets: what surrounds the words of an end, and the end itself.
import { countNewlines } from '../newlines.ts'
import type { EndReader } from './end-reader.ts'

/** Words that are where a program ends, or where a log says what ended it: found by the search of the fault families, in the same pass. */
export const END_LITERALS: readonly string[] = [
  'Traceback (most recent call last)',
  'most recent call first',
  'Fatal Python error: ',
  '[enforce fail at alloc_cpu',
  'terminate called ',
  'KeyboardInterrupt',
  '(core dumped)',
  'Segmentation fault',
  'segmentation fault',
  ' CANCELLED AT ',
  'Exited with exit code',
  'Root Cause (first observed failure)',
  'failed (exitcode: ',
  'exits with return code',
  'returned non-zero exit status',
  "' panicked at ",
  'Check failed: ',
  'Exception in thread "',
  'goroutine 1 [running]',
  'Execution halted',
  'error: unrecognized arguments',
  'DeadlineExceeded',
  'reason: Evicted',
  'received SIGTERM',
  'Received SIGTERM',
  'received SIGINT',
  'ot signal: ',
  ' received at time=',
  "loss': nan",
  'loss": NaN',
  'loss: nan',
  'loss=nan',
  'loss = nan',
  'loss nan',
  'Loss: nan',
]

const NEWLINE = 10
const LINES_BEFORE = 2
const LINES_AFTER = 48
/** The last bytes of a log are read whole: mostly they say how it ended. */
const TAIL = 32_768
const LONGEST_LINE = 65_536
const RECENT_LINES = 512
const RECENT_LENGTH = 512
/** Lines that are read of any log, and of each further MiB: a log full of handled errors costs no more. */
const LINES_AT_FIRST = 20_000
const LINES_PER_MIB = 200

export type EndStream = {
  /**
   * The buffer's bytes up to `length`, which begin at `base` of the log in its line `firstLine`; `words`: where in the buffer literals of ends were found, in
   * rising order.
   */
  readonly region: (buffer: Uint8Array, length: number, base: number, firstLine: number, words: readonly number[]) => void
  readonly end: (buffer: Uint8Array, length: number, base: number, firstLine: number) => void
  /** The lines around one that was read. */
  readonly around: (line: number) => string
}

export function createEndStream(reader: EndReader): EndStream {
  const decoder = new TextDecoder()
  /** All before it was read or passed over. */
  let readTo = 0
  let read = 0
  /** Lines read since the last word; a traceback is read to its end. */
  let after = Infinity
  const recent: { readonly number: number; readonly text: string }[] = []

  /** Reads the line at `at`; where the next one begins, or `at` again where its end is not here yet. */
  const readOne = (buffer: Uint8Array, length: number, at: number, number: number, last: boolean): number => {
    const newline = buffer.indexOf(NEWLINE, at)
    const whole = newline !== -1 && newline < length
    if (!whole && !last) return at
    const to = whole ? newline : length
    const text = decoder.decode(buffer.subarray(at, Math.min(to, at + LONGEST_LINE))).replace(/\r$/, '')
    // Bars are rewritten on one line.
    for (const part of text.includes('\r') ? text.split('\r') : [text]) reader.add(part, number)
    recent.push({ number, text: text.slice(0, RECENT_LENGTH) })
    if (recent.length > RECENT_LINES) recent.shift()
    read += 1
    return to + 1
  }

  return {
    region(buffer, length, base, firstLine, words) {
      let [countedTo, line] = [0, firstLine]
      let next = 0
      for (;;) {
        let from = readTo - base
        if (after > LINES_AFTER && !reader.isOpen()) {
          while (next < words.length && (words[next] ?? 0) + base < readTo) next += 1
          const word = words[next]
          if (word === undefined || read > LINES_AT_FIRST + (LINES_PER_MIB * base) / 2 ** 20) return
          from = lineStart(buffer, word, Math.max(0, readTo - base))
          after = 0
        }
        line += countNewlines(buffer, countedTo, from)
        countedTo = from
        const to = readOne(buffer, length, from, line, false)
        readTo = base + to
        if (to === from) return
        if (next < words.length && (words[next] ?? 0) < to) after = 0
        while (next < words.length && (words[next] ?? 0) < to) next += 1
        after += 1
      }
    },
    end(buffer, length, base, firstLine) {
      const newline = buffer.indexOf(NEWLINE, Math.max(0, length - TAIL))
      let at = Math.max(0, readTo - base, length <= TAIL || newline === -1 ? 0 : newline + 1)
      let line = firstLine + countNewlines(buffer, 0, at)
      while (at < length) {
        at = readOne(buffer, length, at, line, true)
        line += 1
      }
    },
    around: (line) =>
      recent
        .filter(({ number }) => Math.abs(number - line) <= LINES_AFTER)
        .map(({ text }) => text)
        .join('\n'),
  }
}

/** Where the line begins that is two above. */
function lineStart(buffer: Uint8Array, at: number, floor: number): number {
  let start = at
  for (let n = 0; n <= LINES_BEFORE && start > floor; n += 1) {
    const before = start - (n === 0 ? 1 : 2)
    const newline = before < floor ? -1 : buffer.lastIndexOf(NEWLINE, before)
    if (newline < floor) return floor
    start = newline + 1
  }
  return Math.max(start, floor)
}
