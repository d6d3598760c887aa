// Columns as uPlot takes them, filled again for each drawing in the same memory: seconds first, then values; and lanes as such columns.
import type { Timeline } from '../live/timeline.ts'

/** What is not known is null, and a column without such a place is an array of numbers as they are: nothing is made for the garbage collector. */
type Column = (number | null)[] | Float64Array
export type Columns = [seconds: Float64Array, ...values: Column[]]

export type ColumnBook = {
  /** So many columns with room for so many places each; NaN means what is not known. */
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

/** Probes, links and clocks are read less often than once a second: what they said holds until the next word. */
export const HOLDS_S = 10

/** The value at a place, or where there is none the last of so many cells before it. */
export function held(values: Float64Array | undefined, place: number, cells: number): number {
  if (values === undefined) return NaN
  for (let at = place; at >= 0 && at >= place - cells; at--) {
    const value = values[at] ?? NaN
    if (!Number.isNaN(value)) return value
  }
  return NaN
}

/**
 * The values of one lane for a small chart, the highest of each step of so many seconds. Steps are on whole multiples of their length,
 * so that the curve moves on without changing its shape. Coarse cells are drawn as they are: their mean, and their highest.
 */
export function traceRows(timeline: Timeline, lane: string, into: ColumnBook, every = 1): Columns {
  if (timeline.step > 1) return cellRows(timeline, [lane], into)
  const values = timeline.values(lane) ?? new Float64Array()
  const [x = values, y = values] = into.columns(2, values.length)
  const start = timeline.end() - values.length + 1
  let count = 0
  for (let i = 0; i < values.length; count++) {
    const step = Math.floor((start + i) / every)
    let highest = NaN
    for (const next = (step + 1) * every - start; i < values.length && i < next; i++) {
      const value = values[i] ?? NaN
      if (!(value <= highest) && !Number.isNaN(value)) highest = value
    }
    x[count] = step * every
    y[count] = highest
  }
  return into.filled(count)
}

/** Lanes as they are, each value holding for some seconds; where cells are coarse, the highest of each behind them in the same order. */
export function cellRows(timeline: Timeline, lanes: readonly string[], into: ColumnBook, holds: (lane: string) => number = () => HOLDS_S): Columns {
  const found = lanes.map((lane) => timeline.values(lane))
  const holding = lanes.map((lane) => (timeline.step > 1 ? 0 : holds(lane)))
  if (timeline.step > 1) found.push(...lanes.map((lane) => timeline.peaks(lane)))
  const size = Math.max(0, ...found.map((values) => values?.length ?? 0))
  const [seconds, ...columns] = into.columns(1 + found.length, size)
  const start = timeline.end() - size + 1
  for (let i = 0; i < size; i++) if (seconds !== undefined) seconds[i] = timeline.step === 1 ? start + i : timeline.secondAt(i)
  for (const [lane, column] of columns.entries()) for (let i = 0; i < size; i++) column[i] = held(found[lane], i, holding[lane] ?? 0)
  return into.filled(size)
}
