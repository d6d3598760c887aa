// What a terminal would show of what was written to it: the few sequences that `warpwatch top` uses, and nothing else.

export type TerminalScreen = {
  /** The rows when the program left the other screen, or now. */
  readonly rows: readonly string[]
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
  const blank = (): string[][] => Array.from({ length: rows }, () => Array.from({ length: columns }, () => ' '))
  let cells = blank()
  let left: string[][] | undefined
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
        if (row !== undefined && x < columns) row[x] = char
        if (wide(char) && row !== undefined) row[x + 1] = ''
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
    else if (final === 'm') styles.add(parameters)
    else if (final === 'J') cells = blank()
    else unknown.push(JSON.stringify(whole))
  }
  return { rows: (left ?? cells).map((row) => row.join('').trimEnd()), styles, modes, unknown }
}
