// Answers a question about the past: picks step and resolution, and adds blocks, waiting blocks and open windows up into steps.
import { AnswerTooLargeError, MAX_ANSWER_STEPS, type HistoryQuery, type HistorySeries } from '../history-view.ts'
import type { Labels } from '../../model/series.ts'
import { createRawScratch, decodeRaw, unpackBlock } from './block.ts'
import type { Disk, Resolution } from './disk.ts'
import { createRollup, decodeRollup } from './rollup.ts'
import type { SealedBlock } from './seal.ts'
import type { Windows } from './window.ts'

/** Steps in seconds: round figures, minutes whole above a minute and hours whole above an hour. */
const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 691_200, 1_382_400, 2_764_800,
]
const MAX_POINTS = 10_000

type Bins = {
  readonly labels: Labels
  /** Empty until the first reading: of a metric with many short-lived series few have one in a span. */
  min: Float64Array
  max: Float64Array
  sum: Float64Array
  count: Float64Array
  /** Shortest distance of two readings, and the last one's second. */
  apart: number
  last: number
}

type Grid = { readonly step: number; readonly start: number; readonly length: number }

/** Steps of `step` seconds or, where those are too many, of more, that cover the span. */
function gridFor(from: number, to: number, points: number, atLeast: number): Grid {
  for (let i = 0; ; i++) {
    const step = STEPS[i] ?? (STEPS.at(-1) ?? 1) * 2 ** (i - STEPS.length + 1)
    const start = Math.floor(from / step) * step
    const length = Math.floor((to - start) / step) + 1
    if (step >= atLeast && (length <= points || (to - from) / step < 1e-6)) return { step, start, length }
  }
}

export type QuerySources = {
  /** Called for a stored block that cannot be read; the answer leaves it out. */
  readonly broken: (error: RangeError) => void
  readonly disk: Disk | undefined
  readonly waiting: readonly SealedBlock[]
  readonly windows: Windows
}

const NONE = new Float64Array(0)
const scratch = createRawScratch()
const rollup = createRollup()

export function runQuery({ disk, waiting, windows, broken }: QuerySources, query: HistoryQuery): readonly HistorySeries[] {
  const from = Math.floor(query.from / 1000)
  const to = Math.floor(query.to / 1000)
  if (!Number.isFinite(from) || !Number.isFinite(to) || to < from) return []
  const points = Math.max(1, Math.min(MAX_POINTS, Math.floor(query.points)))
  // Where the fine data has been deleted already, the coarser must do.
  const atLeast = disk === undefined || from > disk.trimmedUntil('raw') ? 1 : from > disk.trimmedUntil('minutes') ? 60 : 3_600
  const grid = gridFor(from, to, points, atLeast)
  const resolution: Resolution = grid.step >= 3_600 ? 'hours' : grid.step >= 60 ? 'minutes' : 'raw'

  const bins = new Map<string, Bins>()
  let steps = 0
  const binsFor = (key: string, labels: Labels): Bins | undefined => {
    const known = bins.get(key)
    if (known !== undefined) return known
    for (const name in query.labels) if ((labels[name] ?? '') !== query.labels[name]) return undefined
    const made = { labels, min: NONE, max: NONE, sum: NONE, count: NONE, apart: Number.POSITIVE_INFINITY, last: -1 }
    bins.set(key, made)
    return made
  }
  const add = (into: Bins, second: number, min: number, max: number, mean: number, count: number): void => {
    const i = Math.floor((second - grid.start) / grid.step)
    if (!(i >= 0 && i < grid.length)) return
    if (into.count === NONE) {
      steps += grid.length
      if (steps > MAX_ANSWER_STEPS)
        throw new AnswerTooLargeError(
          `${query.metric}: the answer has more than ${MAX_ANSWER_STEPS} points in all its series; ask for fewer points than ${grid.length}, or name a label such as uuid`,
        )
      into.min = new Float64Array(grid.length).fill(Number.POSITIVE_INFINITY)
      into.max = new Float64Array(grid.length).fill(Number.NEGATIVE_INFINITY)
      into.sum = new Float64Array(grid.length)
      into.count = new Float64Array(grid.length)
    }
    if (min < (into.min[i] ?? 0)) into.min[i] = min
    if (max > (into.max[i] ?? 0)) into.max[i] = max
    into.sum[i] = (into.sum[i] ?? 0) + mean * count
    into.count[i] = (into.count[i] ?? 0) + count
  }
  const addRaw = (into: Bins, second: number, value: number): void => {
    if (second < from || second > to) return
    if (into.last >= 0 && second > into.last && second - into.last < into.apart) into.apart = second - into.last
    into.last = second
    add(into, second, value, value, value, 1)
  }
  const addSegment = (into: Bins, bytes: Uint8Array, start: number): void => {
    const count = decodeRaw(bytes, scratch)
    for (let i = 0; i < count; i++) addRaw(into, start + (scratch.at[i] ?? 0), scratch.value[i] ?? 0)
  }

  const stepSeconds = resolution === 'hours' ? 3_600 : 60
  const addBlock = (wanted: ReadonlyMap<number, Bins>, t0: number, data: Uint8Array): void => {
    for (const { id, bytes } of unpackBlock(data)) {
      const into = wanted.get(id)
      if (into === undefined) continue
      if (resolution === 'raw') {
        addSegment(into, bytes, t0)
        continue
      }
      decodeRollup(bytes, rollup)
      const { at, min, max, mean, count } = rollup
      for (let i = 0; i < rollup.length; i++) {
        const second = t0 + (at[i] ?? 0) * stepSeconds
        // A minute that began before `from` still covers the time after it.
        if (second + stepSeconds > from && second <= to) add(into, second, min[i] ?? 0, max[i] ?? 0, mean[i] ?? 0, count[i] ?? 0)
      }
    }
  }

  if (disk !== undefined) {
    const wanted = new Map<number, Bins>()
    for (const series of disk.series(query.metric, from)) {
      const into = binsFor(series.key, series.labels)
      if (into !== undefined) wanted.set(series.id, into)
    }
    if (wanted.size > 0) {
      for (const { t0, data } of disk.blocks(resolution, query.metric, from, to)) {
        try {
          addBlock(wanted, t0, data)
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
          broken(error)
        }
      }
    }
  }
  for (const block of waiting) {
    if (block.metric !== query.metric || block.start > to || block.start + block.length <= from) continue
    for (const { column, bytes } of block.segments) {
      const into = binsFor(column.key, column.labels)
      if (into !== undefined) addSegment(into, bytes, block.start)
    }
  }
  for (const group of windows.of(query.metric)) {
    if (group.start < 0 || group.start > to) continue
    for (const column of group.columns) {
      const into = binsFor(column.key, column.labels)
      if (into === undefined) continue
      const end = Math.min(column.values.length, to - group.start + 1)
      for (let i = Math.max(0, from - group.start); i < end; i++) {
        const value = column.values[i] ?? Number.NaN
        if (!Number.isNaN(value)) addRaw(into, group.start + i, value)
      }
    }
  }
  return [...bins.values()].filter((found) => found.count !== NONE).map((found) => toSeries(query.metric, grid, found))
}

/** A series that is read every ten seconds gets steps of ten seconds: nulls stand for missing readings only. */
function toSeries(metric: string, grid: Grid, bins: Bins): HistorySeries {
  const own = grid.step < bins.apart && bins.apart <= 60 ? (STEPS.find((step) => step >= bins.apart && step % grid.step === 0) ?? grid.step) : grid.step
  const start = Math.floor(grid.start / own) * own
  const length = Math.floor((grid.start + (grid.length - 1) * grid.step - start) / own) + 1
  const t: number[] = []
  const [min, mean, max]: [(number | null)[], (number | null)[], (number | null)[]] = [[], [], []]
  let from = 0
  for (let i = 0; i < length; i++) {
    const until = Math.min(grid.length, Math.round((start + (i + 1) * own - grid.start) / grid.step))
    let least = Number.POSITIVE_INFINITY
    let greatest = Number.NEGATIVE_INFINITY
    let sum = 0
    let count = 0
    for (; from < until; from++) {
      if ((bins.count[from] ?? 0) === 0) continue
      least = Math.min(least, bins.min[from] ?? 0)
      greatest = Math.max(greatest, bins.max[from] ?? 0)
      sum += bins.sum[from] ?? 0
      count += bins.count[from] ?? 0
    }
    t.push((start + i * own) * 1000)
    min.push(count > 0 ? least : null)
    // Clamped: a sum of doubles, divided again, may fall outside by its last bit.
    mean.push(count > 0 ? Math.min(greatest, Math.max(least, sum / count)) : null)
    max.push(count > 0 ? greatest : null)
  }
  return { metric, labels: bins.labels, step_ms: own * 1000, t, min, mean, max }
}
