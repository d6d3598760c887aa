// Columns as uPlot takes them, filled anew for each drawing in the same memory: seconds first, then values.
/** What is not known is null, and a column without such a place is an array of numbers as they are: nothing is made for the garbage collector. */
type Column = (number | null)[] | Float64Array
export type Columns = [seconds: Float64Array, ...values: Column[]]

export type ColumnBook = {
  /** So many columns with room for so many places each; NaN stands for what is not known. */
  readonly columns: (count: number, places: number) => readonly Float64Array[]
  /** The first places of what was filled. */
  readonly filled: (places: number) => Columns
}

function withGaps(column: Float64Array): Column {
  for (const value of column) if (Number.isNaN(value)) return Array.from(column, (each) => (Number.isNaN(each) ? null : each))
  return column
}

export function createColumnBook(): ColumnBook {
  let book: Float64Array[] = []
  return {
    columns(count, places) {
      if (book.length !== count || (book[0]?.length ?? 0) < places) book = Array.from({ length: count }, () => new Float64Array(places))
      return book
    },
    filled(places) {
      const [seconds = new Float64Array(), ...values] = book
      return [seconds.subarray(0, places), ...values.map((column) => withGaps(column.subarray(0, places)))]
    },
  }
}
