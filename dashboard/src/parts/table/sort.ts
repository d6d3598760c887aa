// Sorting of table rows by what a column holds; what is not known comes last in either direction.
export type SortKey = string | number | undefined
export type SortState = { readonly column: string; readonly descending: boolean }

/** Made once, when it is first needed: to make one takes longer than to sort a table with it. */
let collator: Intl.Collator | undefined
const compareTexts = (a: string, b: string): number => (collator ??= new Intl.Collator(undefined, { numeric: true })).compare(a, b)

export function sortRows<Row>(rows: readonly Row[], key: (row: Row) => SortKey, descending: boolean, tie: (row: Row) => string): readonly Row[] {
  const compare = (a: SortKey, b: SortKey): number => {
    if (typeof a === 'number' && typeof b === 'number') return a - b
    return compareTexts(String(a), String(b))
  }
  return rows.toSorted((a, b) => {
    const [left, right] = [key(a), key(b)]
    if (left === undefined || right === undefined) {
      if (left !== right) return left === undefined ? 1 : -1
    } else {
      const order = compare(left, right)
      if (order !== 0) return descending ? -order : order
    }
    return compareTexts(tie(a), tie(b))
  })
}

/** Two figures closer than this are alike to a reader. */
const ALIKE_RATIO = 0.05

/**
 * The same order as before as far as it is right: live figures that are about alike would let their rows change places each second, under a reader's hand. A row moves up
 * past all that it clearly exceeds, and new ones come where they belong. `sorted`: by number. `before`: the names of the rows as they stood.
 */
export function steadyOrder<Row>(
  sorted: readonly Row[],
  before: readonly string[],
  key: (row: Row) => SortKey,
  descending: boolean,
  name: (row: Row) => string,
): readonly Row[] {
  const isAhead = (a: Row, b: Row): boolean => {
    const [left, right] = [key(a), key(b)]
    if (typeof left !== 'number' || typeof right !== 'number') return typeof left === 'number' && typeof right !== 'number'
    return (descending ? left - right : right - left) > ALIKE_RATIO * Math.max(Math.abs(left), Math.abs(right))
  }
  const rank = new Map(sorted.map((row, at) => [name(row), { row, at }]))
  const known = new Set(before)
  const order: Row[] = []
  const insert = (row: Row, goesBefore: (other: Row) => boolean): void => {
    const at = order.findIndex(goesBefore)
    order.splice(at === -1 ? order.length : at, 0, row)
  }
  for (const each of before) {
    const row = rank.get(each)?.row
    if (row !== undefined) insert(row, (other) => isAhead(row, other))
  }
  for (const [each, { row, at }] of rank) if (!known.has(each)) insert(row, (other) => at < (rank.get(name(other))?.at ?? 0))
  return order
}

/** A click on the sorted column turns the direction; on another one it begins with that column's natural direction. */
export function nextSort(state: SortState, column: string, startDescending: boolean): SortState {
  return state.column === column ? { column, descending: !state.descending } : { column, descending: startDescending }
}
