// From pieces of text as they come (a pipe, a stream, a file) to whole lines of a bounded length. Logs as bytes have `sources/logs/line-buffer.ts`.

export type LineSplitterOptions = {
  /** The longest line, in UTF-16 units without its line end. No more than that, and one piece, is held. */
  readonly maxChars: number
  /** `drop`: a longer line is passed over. `cut`: its first `maxChars` are given, the rest is passed over. */
  readonly overlong: 'drop' | 'cut'
  /** Called once for each longer line; may throw to end the reading. */
  readonly onOverlong?: () => void
}
export type LineSplitter = {
  /** The lines that `text` completes, without their line ends. */
  readonly push: (text: string) => readonly string[]
  /** The last line, when it has no line end. */
  readonly end: () => readonly string[]
}

export function createLineSplitter({ maxChars, overlong, onOverlong }: LineSplitterOptions): LineSplitter {
  let rest = ''
  let skipping = false
  const shorten = (line: string): readonly string[] => {
    if (line.length <= maxChars) return [line]
    onOverlong?.()
    return overlong === 'cut' ? [line.slice(0, maxChars)] : []
  }
  return {
    push(text) {
      // Only what is new is searched: a line of many pieces is put together once, when it is whole.
      let lines = text.split('\n')
      lines[0] = rest + (lines[0] ?? '')
      rest = lines.pop() ?? ''
      if (skipping && lines.length > 0) {
        lines.shift()
        skipping = false
      }
      if (lines.some((line) => line.length > maxChars)) lines = lines.flatMap(shorten)
      if (skipping) rest = ''
      else if (rest.length > maxChars) {
        lines.push(...shorten(rest))
        skipping = true
        rest = ''
      }
      return lines
    },
    end() {
      const last = rest
      rest = ''
      skipping = false
      return last === '' ? [] : [last]
    },
  }
}
