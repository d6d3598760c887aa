// How many cells of a terminal a text takes: wide letters (CJK, emoji) take two, combining marks none.
import { plain } from '../../plain.ts'

/** East Asian Wide and Fullwidth, and emoji, by block (Unicode TR 11); finer tables are not worth their size here. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]/u
/** Combining marks, and marks that turn or join text: a terminal draws them over the letter before, or reorders the line. */
const NO_WIDTH = /\p{M}|\p{Cf}/gu

const ASCII = /^[\x20-\x7e]*$/

/** One line without what could drive the terminal, move the cursor or reorder the text. */
export const oneLine = (text: string): string => (ASCII.test(text) ? text : plain(text.replace(/[\t-\r\u0085\u2028\u2029]+/g, ' ')).replace(NO_WIDTH, ''))

export const isWide = (char: string): boolean => char > '\u10ff' && WIDE.test(char)

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let cells = 0
  for (const char of text) cells += isWide(char) ? 2 : 1
  return cells
}

/** Cut to so many cells, with an ellipsis where something was cut off. */
export function cutTo(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text
  if (cells <= 1) return cells === 1 ? '…' : ''
  let [kept, used] = ['', 0]
  for (const char of text) {
    const width = isWide(char) ? 2 : 1
    if (used + width > cells - 1) break
    kept += char
    used += width
  }
  return `${kept}…`
}
export const padTo = (text: string, cells: number, right = false): string => {
  const cut = cutTo(text, cells)
  const space = ' '.repeat(Math.max(0, cells - widthOf(cut)))
  return right ? space + cut : cut + space
}
