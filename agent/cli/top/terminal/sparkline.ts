// Curves and bars made of letters: two samples in a braille cell, four levels high.
/** Dots of a braille cell from the bottom to the top, left and right column (Unicode block 2800). */
const LEFT = [0x40, 0x04, 0x02, 0x01]
const RIGHT = [0x80, 0x20, 0x10, 0x08]
const LEVELS = ' .:-=+*#%@'

/** A sample that is missing leaves its place empty, and one of 0 has a dot: that is not the same. */
const dots = (value: number | undefined, column: readonly number[]): number => {
  if (value === undefined) return 0
  const height = Math.max(1, Math.min(column.length, Math.ceil(value * column.length)))
  return column.slice(0, height).reduce((sum, dot) => sum + dot, 0)
}

/** Values from 0 to 1, the newest last, on so many cells; what is older is left out. */
export function sparkline(values: readonly (number | undefined)[], cells: number, unicode: boolean): string {
  const shown: (number | undefined)[] = values.slice(-2 * cells)
  while (shown.length < 2 * cells) shown.unshift(undefined)
  let line = ''
  for (let at = 0; at < shown.length; at += 2) {
    const [a, b] = [shown[at], shown[at + 1]]
    if (unicode) line += String.fromCodePoint(0x2800 + dots(a, LEFT) + dots(b, RIGHT))
    else {
      const known = [a, b].filter((value) => value !== undefined)
      const mean = known.reduce((sum, value) => sum + value, 0) / known.length
      line += known.length === 0 ? ' ' : (LEVELS[Math.min(LEVELS.length - 1, 1 + Math.floor(mean * (LEVELS.length - 1)))] ?? ' ')
    }
  }
  return line
}

/** How many of `cells` each part of a whole takes; what is there takes at least one while there is room. */
export function barCells(parts: readonly number[], whole: number, cells: number): readonly number[] {
  let [from, used] = [0, 0]
  return parts.map((part) => {
    from += part
    const until = Math.min(cells, Math.max(part > 0 ? used + 1 : used, Math.round((from / whole) * cells)))
    const taken = until - used
    used = until
    return taken
  })
}
