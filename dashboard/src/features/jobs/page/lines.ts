// The readings of one job over a range as lines on one grid of times: what it holds of each GPU, how busy those are, its CPU and host memory. Pure.
import type { SeriesRow } from '../../../../../agent/model/live.ts'

export type Line = {
  readonly label: string
  /** Place among the colours; undefined is the plain one. */
  readonly slot: number | undefined
  readonly values: readonly (number | null)[]
}
/** Unix seconds. */
export type Lines = { readonly t: readonly number[]; readonly lines: readonly Line[] }
export const NO_LINES: Lines = { t: [], lines: [] }

export type Grid = { readonly from: number; readonly stepMs: number; readonly length: number }
/** The steps that cover a range, Unix ms. */
export function gridOf(from: number, to: number, stepMs: number): Grid {
  const start = Math.floor(from / stepMs) * stepMs
  return { from: start, stepMs, length: Math.floor((to - start) / stepMs) + 1 }
}
const timesOf = ({ from, stepMs, length }: Grid): readonly number[] => Array.from({ length }, (_, i) => (from + i * stepMs) / 1000)

type Value = (row: SeriesRow, place: number) => number | null | undefined
export const mean: Value = (row, i) => row.mean[i]
export const most: Value = (row, i) => row.max[i]

/** The series together, step by step; null where none was read. A finer step counts by its highest, a coarser one for all that it spans. */
export function summed(rows: readonly SeriesRow[], grid: Grid, valueOf: Value): readonly (number | null)[] {
  const sums: (number | null)[] = Array.from({ length: grid.length }, () => null)
  for (const row of rows) {
    const own: (number | null)[] = Array.from({ length: grid.length }, () => null)
    for (const [i, t] of row.t.entries()) {
      const value = valueOf(row, i)
      if (value === null || value === undefined) continue
      const first = Math.floor((t - grid.from) / grid.stepMs)
      for (let at = first; at === first || grid.from + at * grid.stepMs < t + row.step_ms; at++)
        if (at >= 0 && at < grid.length) own[at] = Math.max(own[at] ?? Number.NEGATIVE_INFINITY, value)
    }
    for (const [at, value] of own.entries()) if (value !== null) sums[at] = (sums[at] ?? 0) + value
  }
  return sums
}

/** One line for each GPU, by its index. */
export function byGpu(rows: readonly SeriesRow[], grid: Grid, valueOf: Value, keep?: ReadonlySet<string>): Lines {
  const gpus = new Map<string, SeriesRow[]>()
  for (const row of rows) {
    const { uuid } = row.labels
    if (uuid === undefined || (keep !== undefined && !keep.has(uuid))) continue
    gpus.set(uuid, [...(gpus.get(uuid) ?? []), row])
  }
  const lines = [...gpus.values()]
    .map((own) => ({ gpu: Number(own[0]?.labels['gpu'] ?? -1), own }))
    .toSorted((a, b) => a.gpu - b.gpu)
    .map(({ gpu, own }) => ({ label: `GPU ${gpu}`, slot: gpu, values: summed(own, grid, valueOf) }))
  return { t: timesOf(grid), lines }
}

/** Lines of GPUs only while the job held memory of them: what is on a GPU before and after is another job's. */
export const whileHeld = ({ t, lines }: Lines, held: Lines): Lines => ({
  t,
  lines: lines.map((line) => {
    const own = held.lines.find(({ label }) => label === line.label)
    return { ...line, values: line.values.map((value, i) => (own?.values[i] === null || own === undefined ? null : value)) }
  }),
})

/** Its highest readings. */
export function asOne(label: string, rows: readonly SeriesRow[], grid: Grid): Lines {
  return { t: timesOf(grid), lines: rows.length === 0 ? [] : [{ label, slot: undefined, values: summed(rows, grid, most) }] }
}

/** CPU cores from CPU seconds: the rise from one step's highest to the next one's; none over a hole, where the counter starts over, or of a newest step that is not over. */
export function asRate(label: string, rows: readonly SeriesRow[], grid: Grid): Lines {
  const rate: Value = ({ max, step_ms: stepMs }, i) => {
    const [before, now] = [max[i - 1], max[i]]
    if (typeof max[i + 1] !== 'number') return null
    return typeof before !== 'number' || typeof now !== 'number' || now < before ? null : ((now - before) * 1000) / stepMs
  }
  return { t: timesOf(grid), lines: rows.length === 0 ? [] : [{ label, slot: undefined, values: summed(rows, grid, rate) }] }
}

/** Lines of two jobs in one chart, each in a colour of its own. */
export const beside = (own: Lines, theirs: Lines): Lines => ({
  t: own.t,
  lines: [...own.lines.map((line) => ({ ...line, slot: 0 })), ...theirs.lines.map((line) => ({ ...line, slot: 1 }))],
})

/** A reading comes a moment after its step, and a rate one step later; what is older is not the figure of now. */
const NEWEST_STEPS = 3
/** The newest value of a line, for where nobody points; none once its readings have stopped. */
export const newest = ({ values }: Line): number | undefined => values.slice(-NEWEST_STEPS).findLast((value) => value !== null) ?? undefined
export const highest = ({ lines }: Lines): number =>
  lines.reduce((top, { values }) => values.reduce<number>((high, value) => Math.max(high, value ?? 0), top), 0)
