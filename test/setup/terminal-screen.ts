// What a terminal would show of what was written to it: the few sequences that `warpwatch top` uses, and nothing else.

export type Cell = { readonly char: string; readonly style: string }

export type TerminalScreen = {
  /** The rows when the program left the other screen, or now. */
  readonly rows: readonly string[]
  /** The same by cell, each with the codes of its style (SGR, as `1;38;2;R;G;B`); the second cell of a wide letter is empty. */
  readonly cells: readonly (readonly Cell[])[]
  /** All codes of colours and styles that were used. */
  readonly styles: ReadonlySet<string>
  /** Private modes that are set now: 1049 the other screen, 25 the cursor, 7 wrapping. */
  readonly modes: ReadonlySet<string>
  /** Sequences that it does not know. */
  readonly unknown: readonly string[]
}

const SEQUENCE = /^\u001b\[(\??)([\d;]*)([A-Za-z])/
const wide = (char: string): boolean => /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uff01-\uff60]|[\u{1f300}-\u{1faff}]/u.test(char)

export function screenOf(written: string, columns: number, rows: number): TerminalScreen {
  const blank = (): Cell[][] => Array.from({ length: rows }, () => Array.from({ length: columns }, () => ({ char: ' ', style: '' })))
  let cells = blank()
  let left: Cell[][] | undefined
  let style = ''
  let [x, y] = [0, 0]
  const [styles, modes, unknown] = [new Set<string>(), new Set(['25', '7']), new Array<string>()]
  let rest = written
  while (rest !== '') {
    const [whole, isPrivate, parameters = '', final = ''] = SEQUENCE.exec(rest) ?? []
    if (whole === undefined) {
      const char = String.fromCodePoint(rest.codePointAt(0) ?? 32)
      rest = rest.slice(char.length)
      if (char === '\n') y += 1
      else if (char === '\r') x = 0
      else if (char < ' ' || char === '\u007f') unknown.push(JSON.stringify(char))
      else {
        const row = cells[y]
        if (row !== undefined && x < columns) row[x] = { char, style }
        if (wide(char) && row !== undefined && x + 1 < columns) row[x + 1] = { char: '', style }
        x += wide(char) ? 2 : 1
      }
      continue
    }
    rest = rest.slice(whole.length)
    if (isPrivate === '?' && final === 'h') modes.add(parameters)
    else if (isPrivate === '?' && final === 'l') {
      modes.delete(parameters)
      if (parameters === '1049') left = cells.map((row) => [...row])
    } else if (final === 'H') [y = 0, x = 0] = parameters.split(';').map((part) => Number(part || '1') - 1)
    else if (final === 'm') {
      styles.add(parameters)
      style = ['', '0'].includes(parameters) ? '' : parameters.replace(/^0;/, '')
    } else if (final === 'J') cells = blank()
    else unknown.push(JSON.stringify(whole))
  }
  const shown = left ?? cells
  return {
    rows: shown.map((row) =>
      row
        .map(({ char }) => char)
        .join('')
        .trimEnd(),
    ),
    cells: shown,
    styles,
    modes,
    unknown,
  }
}
