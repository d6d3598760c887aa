// Draws a section: its title and columns, then as many rows as it was given.
import type { Cell, Column, Section, Segment } from './sections/section.ts'
import type { Screen } from './terminal/screen.ts'
import type { Style } from './terminal/look.ts'
import { cutTo, oneLine, padTo } from './terminal/width.ts'

const GAP = 1
export type Placed = { readonly at: number; readonly width: number; readonly column: Column }

/** Which columns fit, and how wide each becomes. One in which no row has a value leaves its room to the others. */
export function placeColumns({ columns, rows }: Pick<Section, 'columns' | 'rows'>, width: number): readonly Placed[] {
  const hasValue = (at: number): boolean => rows.length === 0 || rows.some(({ values }) => values[at] !== undefined)
  const kept = columns.map((column, at) => ({ at, column })).filter(({ at }) => at === 0 || hasValue(at))
  const least = (): number => kept.reduce((sum, { column }) => sum + column.width, 0) + GAP * (kept.length - 1)
  while (least() > width) {
    const droppable = kept.filter(({ column }) => column.drop !== undefined)
    if (droppable.length === 0) break
    const worst = droppable.reduce((a, b) => ((a.column.drop ?? 0) >= (b.column.drop ?? 0) ? a : b))
    kept.splice(kept.indexOf(worst), 1)
  }
  const widths = kept.map(({ column }) => column.width)
  let left = width - least()
  // A column that has reached its most leaves the rest to the others.
  for (let round = 0; left > 0 && round < kept.length + 1; round++) {
    const growing = kept.flatMap(({ column }, i) => ((column.grow ?? 0) > 0 && (widths[i] ?? 0) < (column.most ?? Infinity) ? [i] : []))
    const weights = growing.reduce((sum, i) => sum + (kept[i]?.column.grow ?? 0), 0)
    const room = left
    for (const i of growing) {
      const { grow = 0, most = Infinity } = kept[i]?.column ?? {}
      const more = Math.min(Math.max(1, Math.floor((room * grow) / weights)), most - (widths[i] ?? 0), left)
      widths[i] = (widths[i] ?? 0) + more
      left -= more
    }
    if (growing.length === 0) break
  }
  return kept.map(({ at, column }, i) => ({ at, column, width: widths[i] ?? column.width }))
}

const segmentsOf = (cell: Cell, width: number): readonly Segment[] =>
  typeof cell === 'function' ? cell(width) : typeof cell === 'string' ? [{ text: cell }] : cell

function drawCell(screen: Screen, x: number, y: number, { column, width }: Placed, cell: Cell, dim: boolean): void {
  const segments = segmentsOf(cell, width)
  const style = (own: Style | undefined): Style => (dim ? { dim: true } : (own ?? {}))
  const [only] = segments
  if (segments.length === 1 && only !== undefined) {
    screen.put(x, y, padTo(oneLine(only.text), width, column.right), style(only.style), x + width)
    return
  }
  let at = x
  for (const { text, style: own } of segments) {
    at = screen.put(at, y, cutTo(oneLine(text), x + width - at), style(own), x + width)
    if (at >= x + width) break
  }
}

export type TableView = {
  readonly focused: boolean
  readonly selected: string | undefined
  /** First row that is shown. */
  readonly offset: number
  readonly sort: { readonly column: number; readonly reversed: boolean } | undefined
}

export function drawTable(screen: Screen, y: number, height: number, section: Section, view: TableView): void {
  const placed = placeColumns(section, screen.columns)
  const shown = section.rows.slice(view.offset, view.offset + height - 1)
  const more = section.rows.length - shown.length
  let x = 0
  screen.claim(y, { section: section.id })
  const head: Style = view.focused ? { bold: true, colour: 'accent' } : { bold: true, dim: true }
  for (const one of placed) {
    const arrow = view.sort?.column === one.at ? (view.sort.reversed ? '↑' : '↓') : ''
    screen.put(x, y, padTo(one.column.title + arrow, one.width, one.column.right), head, x + one.width)
    x += one.width + GAP
  }
  if (more > 0) {
    const text = ` ${shown.length} of ${section.rows.length} ${section.title} `
    screen.put(Math.max(0, screen.columns - text.length), y, text, { dim: true })
  }
  for (const [i, row] of shown.entries()) {
    let at = 0
    for (const one of placed) {
      drawCell(screen, at, y + 1 + i, one, row.cells[one.at] ?? '', row.dim === true)
      at += one.width + GAP
    }
    screen.claim(y + 1 + i, { section: section.id, row: row.key })
    if (view.focused && row.key === view.selected) screen.mark(y + 1 + i)
  }
}
