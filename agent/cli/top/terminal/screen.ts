// A screen of cells: drawn whole each time, written as the difference to what the terminal shows, so that nothing flickers.
import { isWide, oneLine } from './width.ts'
import { sgr, type Capabilities, type Style } from './look.ts'

export type Owner = { readonly section: string; readonly row?: string }

export type Screen = {
  readonly columns: number
  readonly rows: number
  /** Puts text at a place and returns the column behind it; what does not fit is cut off. */
  readonly put: (x: number, y: number, text: string, style?: Style, until?: number) => number
  /** Restyles a whole row, as of a selected one. */
  readonly mark: (y: number) => void
  /** Whose line it is, for clicks: a table, or a row of it. */
  readonly claim: (y: number, owner: Owner) => void
  readonly ownerOf: (y: number) => Owner | undefined
  readonly clear: () => void
  /** What changes the terminal from `before` to this; `before` undefined: everything. */
  readonly changes: (before: Screen | undefined) => string
  /** The rows as text, trimmed at the end: for `--once` and tests. With colours where `coloured`. */
  readonly lines: (coloured: boolean) => readonly string[]
  readonly cell: (x: number, y: number) => readonly [char: string, style: string]
}

const PLAIN: Style = {}
/** The terminals without letters beyond ASCII. */
const IN_ASCII: Readonly<Record<string, string>> = {
  '…': '~',
  '°': ' ',
  '·': '.',
  '×': 'x',
  '↓': 'v',
  '↑': '^',
  '→': '>',
  '─': '-',
  '█': '#',
  '▓': '=',
  '▒': '+',
  '░': ':',
  '–': '-',
}

export function createScreen(columns: number, rows: number, capabilities: Capabilities): Screen {
  const size = columns * rows
  const chars: string[] = Array.from({ length: size }, () => ' ')
  const plainStyle = sgr(PLAIN, capabilities.depth)
  const styles: string[] = Array.from({ length: size }, () => plainStyle)
  const written = new Map<Style, string>()
  const owners = new Map<number, Owner>()
  const codeOf = (style: Style): string => {
    let code = written.get(style)
    if (code === undefined) written.set(style, (code = sgr(style, capabilities.depth)))
    return code
  }
  const shown = (char: string): string => (capabilities.unicode || char <= '\u007e' ? char : (IN_ASCII[char] ?? '?'))
  const set = (x: number, y: number, char: string, style: string): void => {
    chars[y * columns + x] = char
    styles[y * columns + x] = style
  }
  return {
    columns,
    rows,
    put(x, y, text, style = PLAIN, until = columns) {
      const end = Math.min(until, columns)
      if (y < 0 || y >= rows) return x
      const code = codeOf(style)
      let at = x
      for (const one of oneLine(text)) {
        const char = shown(one)
        const wide = isWide(char)
        if (at + (wide ? 2 : 1) > end) break
        if (at >= 0) set(at, y, char, code)
        if (wide) set(at + 1, y, '', code)
        at += wide ? 2 : 1
      }
      return at
    },
    claim: (y, owner) => void owners.set(y, owner),
    ownerOf: (y) => owners.get(y),
    mark(y) {
      for (let x = 0; x < columns; x++) styles[y * columns + x] = codeOf({ inverse: true })
    },
    clear() {
      owners.clear()
      chars.fill(' ')
      styles.fill(plainStyle)
    },
    changes(before) {
      const same = before !== undefined && before.columns === columns && before.rows === rows
      const parts: string[] = []
      if (!same) parts.push('\u001b[0m\u001b[2J')
      let [atX, atY, style] = [-1, -1, same ? '' : plainStyle]
      for (let y = 0; y < rows; y++)
        for (let x = 0; x < columns; x++) {
          const [char, code] = [chars[y * columns + x] ?? ' ', styles[y * columns + x] ?? plainStyle]
          if (char === '') continue
          const [oldChar, oldCode] = same ? before.cell(x, y) : [' ', plainStyle]
          if (char === oldChar && code === oldCode) continue
          // The last cell of the screen scrolls some terminals when it is written.
          if (y === rows - 1 && x === columns - 1) continue
          if (atX !== x || atY !== y) parts.push(`\u001b[${y + 1};${x + 1}H`)
          if (style !== code) parts.push((style = code))
          parts.push(char)
          ;[atX, atY] = [x + (isWide(char) ? 2 : 1), y]
        }
      if (parts.length === 0) return ''
      parts.push(plainStyle)
      return capabilities.modern ? `\u001b[?2026h${parts.join('')}\u001b[?2026l` : parts.join('')
    },
    lines(coloured) {
      return Array.from({ length: rows }, (_, y) => {
        const row = chars.slice(y * columns, (y + 1) * columns)
        if (!coloured) return row.join('').trimEnd()
        let style = plainStyle
        let last = row.length
        while (last > 0 && row[last - 1] === ' ' && styles[y * columns + last - 1] === plainStyle) last -= 1
        const text = row.slice(0, last).map((char, x) => {
          const code = styles[y * columns + x] ?? plainStyle
          const change = code === style ? '' : code
          style = code
          return change + char
        })
        return text.join('') + (style === plainStyle ? '' : plainStyle)
      })
    },
    cell: (x, y) => [chars[y * columns + x] ?? ' ', styles[y * columns + x] ?? plainStyle],
  }
}
