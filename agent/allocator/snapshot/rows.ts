// Dicts of one kind as rows: a dump holds thousands with the same keys in the same order, and rows of their values take half the time and memory.

export type Rows = {
  /** The first key of such a dict, by which it is known. */
  readonly first: string
  /** The keys whose values make the row, in this order. */
  readonly columns: readonly string[]
}
/** Keys and values of a dict are in `stack` in turn, from `from` to `to`; undefined where it is not of this kind. A key that is twice counts as it is last. */
export type RowReader<Item> = (stack: readonly Item[], from: number, to: number) => Item[] | undefined

export function createRowReader<Item>({ first, columns }: Rows, missing: Item): RowReader<Item> {
  const numbers = new Map<Item | string, number>(columns.map((name, i) => [name, i]))
  const blank: readonly Item[] = columns.map(() => missing)
  /** Of the dict before: its keys and the columns that they fill. */
  let keys: Item[] = []
  let places: (number | undefined)[] = []
  return (stack, from, to) => {
    if (stack[from] !== first) return undefined
    const row = [...blank]
    for (let i = from, at = 0; i < to; i += 2, at += 1) {
      const key = stack[i] ?? missing
      if (keys[at] !== key) {
        keys[at] = key
        places[at] = numbers.get(key)
      }
      const place = places[at]
      if (place !== undefined) row[place] = stack[i + 1] ?? missing
    }
    // A dict of very many keys is none of the kind, and its keys need not be kept.
    if (keys.length > 256) [keys, places] = [[], []]
    return row
  }
}
