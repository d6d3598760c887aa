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

/** A click on the sorted column turns the direction; on another one it begins with that column's natural direction. */
export function nextSort(state: SortState, column: string, startDescending: boolean): SortState {
  return state.column === column ? { column, descending: !state.descending } : { column, descending: startDescending }
}
