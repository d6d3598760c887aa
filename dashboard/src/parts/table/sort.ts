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

/** Each in the place where it stood, new ones at the end. `before`: the names of the rows as they stood. */
export function heldOrder<Row>(sorted: readonly Row[], before: readonly string[], name: (row: Row) => string): readonly Row[] {
  const rank = new Map(before.map((each, place) => [each, place]))
  const place = (row: Row): number => rank.get(name(row)) ?? before.length
  return sorted.toSorted((a, b) => place(a) - place(b))
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
  /** The larger, the further up; what is not known comes last. */
  const weightOf = (row: Row): number => {
    const value = key(row)
    return typeof value !== 'number' ? Number.NEGATIVE_INFINITY : descending ? value : -value
  }
  const rank = new Map(sorted.map((row, at) => [name(row), { row, at, weight: weightOf(row) }]))
  type Placed = { readonly row: Row; readonly at: number; readonly weight: number }
  const isAhead = (a: Placed, b: Placed): boolean =>
    b.weight === Number.NEGATIVE_INFINITY ? a.weight > b.weight : a.weight - b.weight > ALIKE_RATIO * Math.max(Math.abs(a.weight), Math.abs(b.weight))
  const order: Placed[] = []
  const insert = (placed: Placed, goesBefore: (other: Placed) => boolean): void => {
    const at = order.findIndex(goesBefore)
    order.splice(at === -1 ? order.length : at, 0, placed)
  }
  let least: Placed | undefined
  for (const each of before) {
    const placed = rank.get(each)
    if (placed === undefined) continue
    // Nearly always nothing has moved: then one comparison a row is enough.
    if (least === undefined || !isAhead(placed, least)) order.push(placed)
    else insert(placed, (other) => isAhead(placed, other))
    if (least === undefined || placed.weight < least.weight) least = placed
  }
  const known = new Set(before)
  for (const [each, placed] of rank) if (!known.has(each)) insert(placed, (other) => placed.at < other.at)
  return order.map(({ row }) => row)
}

/** A click on the sorted column turns the direction; on another one it begins with that column's natural direction. */
export function nextSort(state: SortState, column: string, startDescending: boolean): SortState {
  return state.column === column ? { column, descending: !state.descending } : { column, descending: startDescending }
}
