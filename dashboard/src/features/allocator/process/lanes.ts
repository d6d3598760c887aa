// One process's allocator over time: steps of the span that is looked at, filled by history, kept up by frames; what a step holds, and what happened. Pure.
import type { AllocatorRow, SeriesRow } from '../../../../../agent/model/live.ts'
import { createTimeline, type Timeline } from '../../../parts/live/timeline.ts'

/** Steps are those in which the agent's history answers, so that a pixel is about one step. */
export const SPANS = {
  '15m': { label: '15 min', spanS: 900, stepS: 1 },
  '1h': { label: '1 h', spanS: 3600, stepS: 5 },
  '6h': { label: '6 h', spanS: 21_600, stepS: 30 },
  '24h': { label: '24 h', spanS: 86_400, stepS: 120 },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly spanS: number; readonly stepS: number }>>
export type SpanName = keyof typeof SPANS
export const isSpan = (text: string | undefined): text is SpanName => text !== undefined && text in SPANS

/**
 * Which reading of a step counts. Means of the parts, since the highest of each are of different moments and would add up to more than there was;
 * of what was reserved the most, which shows what a peak within the step left behind.
 */
export const MEASURES = {
  allocated_bytes: 'mean',
  reserved_bytes: 'max',
  active_bytes: 'mean',
  inactive_split_bytes: 'mean',
  unreleasable_bytes: 'mean',
  headroom_bytes: 'mean',
  retries_total: 'max',
  ooms_total: 'max',
} as const satisfies Readonly<Record<string, 'max' | 'mean'>>
export type Measure = keyof typeof MEASURES
export const MEASURE_NAMES: readonly Measure[] = [
  'allocated_bytes',
  'reserved_bytes',
  'active_bytes',
  'inactive_split_bytes',
  'unreleasable_bytes',
  'headroom_bytes',
  'retries_total',
  'ooms_total',
]

/** How long the chart is; `end`, Unix seconds: of a window that does not move. */
export type Span = { readonly label: string; readonly spanS: number; readonly stepS: number; readonly end?: number }

export type Lanes = Omit<Span, 'label'> & {
  /** Moves the window on so that it ends at this time. */
  readonly advance: (ms: number) => void
  readonly takeRow: (row: AllocatorRow, ms: number) => void
  readonly takeHistory: (measure: Measure, rows: readonly SeriesRow[]) => void
  /** Unix seconds of the steps, oldest first. */
  readonly seconds: () => readonly number[]
  readonly values: (measure: Measure) => Float64Array | undefined
  readonly at: (measure: Measure, second: number) => number | undefined
  /** The newest second of which anything is known. */
  readonly newest: () => number | undefined
}

export function createLanes({ spanS, stepS, end }: Omit<Span, 'label'>): Lanes {
  const size = Math.ceil(spanS / stepS) + 1
  // Its seconds are steps here.
  const timeline: Timeline = createTimeline(size)
  const stepOf = (ms: number): number => Math.floor(ms / 1000 / stepS)
  if (end !== undefined) timeline.advance(stepOf(end * 1000))
  return {
    stepS,
    spanS,
    ...(end !== undefined && { end }),
    advance: (ms) => {
      if (end === undefined) timeline.advance(stepOf(ms))
    },
    takeRow(row, ms) {
      if (end !== undefined) return
      timeline.advance(stepOf(ms))
      for (const measure of MEASURE_NAMES) {
        const value = row[measure]
        if (value !== undefined) timeline.put(measure, stepOf(ms), value)
      }
    },
    takeHistory(measure, rows) {
      for (const row of rows) {
        const width = Math.max(1, Math.round(row.step_ms / 1000 / stepS))
        for (const [i, ms] of row.t.entries()) {
          const value = row[MEASURES[measure]][i]
          if (value !== null && value !== undefined) timeline.fill(measure, stepOf(ms), stepOf(ms) + width, value)
        }
      }
    },
    seconds: () => Array.from({ length: size }, (_, i) => (timeline.end() - size + 1 + i) * stepS),
    values: (measure) => timeline.values(measure),
    at: (measure, second) => timeline.at(measure, Math.floor(second / stepS)),
    newest: () => {
      const step = timeline.newest('reserved_bytes')
      return step === undefined ? undefined : step * stepS
    },
  }
}

/** The parts of what a process reserved, bottom up. */
export const LAYERS = ['inUse', 'waiting', 'holes', 'cache'] as const
export type Layer = (typeof LAYERS)[number]
export type Parts = Readonly<Record<Layer, number | undefined>> & {
  readonly reserved: number | undefined
  /** The most that it could hold: what no flush gives back, and what could still be had. */
  readonly ceiling: number | undefined
  readonly headroom: number | undefined
}

type Readings = Partial<Readonly<Record<Measure, number | undefined>>>
const minus = (a: number | undefined, ...rest: readonly (number | undefined)[]): number | undefined =>
  a === undefined
    ? undefined
    : Math.max(
        0,
        rest.reduce<number>((left, b) => left - (b ?? 0), a),
      )

/** Expandable segments count no inactive split: their holes are part of the cache there, and nobody knows which. */
export function partsOf(readings: Readings): Parts {
  const { allocated_bytes: allocated, reserved_bytes: reserved, active_bytes: active, inactive_split_bytes: split } = readings
  const { unreleasable_bytes: held, headroom_bytes: headroom } = readings
  return {
    inUse: allocated,
    waiting: allocated === undefined ? undefined : minus(active, allocated),
    holes: split,
    cache: active === undefined && allocated === undefined ? undefined : minus(reserved, active ?? allocated, split),
    reserved,
    headroom,
    ceiling: held === undefined || headroom === undefined ? undefined : held + headroom,
  }
}

export const readingsAt = (lanes: Lanes, second: number): Readings => Object.fromEntries(MEASURE_NAMES.map((measure) => [measure, lanes.at(measure, second)]))

export type Columns = [x: number[], ...y: (number | null)[][]]

/** Columns for the chart: seconds, the layers cumulated from the top one down, and the ceiling last. */
export function columnsOf(lanes: Lanes): Columns {
  const seconds = [...lanes.seconds()]
  const values = new Map(MEASURE_NAMES.map((measure) => [measure, lanes.values(measure)]))
  const rows: (number | null)[][] = Array.from({ length: LAYERS.length + 1 }, () => [])
  for (let i = 0; i < seconds.length; i++) {
    const reading = (measure: Measure): number | undefined => {
      const value = values.get(measure)?.[i]
      return value === undefined || Number.isNaN(value) ? undefined : value
    }
    const parts = partsOf(Object.fromEntries(MEASURE_NAMES.map((measure) => [measure, reading(measure)])))
    let sum = 0
    for (const [place, layer] of LAYERS.entries()) {
      sum += parts[layer] ?? 0
      const row = rows[LAYERS.length - 1 - place]
      if (row !== undefined) row[i] = parts.reserved === undefined ? null : sum
    }
    const top = rows[LAYERS.length]
    if (top !== undefined) top[i] = parts.ceiling ?? null
  }
  return [seconds, ...rows]
}

export type Mark = { readonly second: number; readonly kind: 'retry' | 'oom' }

/** When a counter rose. A counter that fell was reset by the program, and says nothing of that step. */
export function risesOf(lanes: Lanes, measure: 'retries_total' | 'ooms_total'): readonly number[] {
  const found: number[] = []
  const values = lanes.values(measure)
  if (values === undefined) return found
  const seconds = lanes.seconds()
  let before = NaN
  for (const [i, value] of values.entries()) {
    if (Number.isNaN(value)) continue
    if (value > before) found.push(seconds[i] ?? 0)
    before = value
  }
  return found
}

/** Retries and errors of the counters, and errors that only an incident knows: a process that dies of one counts it no more. */
export function marksOf(lanes: Lanes, oomsMs: readonly number[]): readonly Mark[] {
  const [first = 0] = lanes.seconds()
  const counted = risesOf(lanes, 'ooms_total')
  const reported = oomsMs.map((ms) => Math.floor(ms / 1000)).filter((second) => second >= first)
  const near = (second: number): boolean => counted.some((other) => Math.abs(other - second) <= lanes.stepS + 2)
  const ooms = [...counted, ...reported.filter((second) => !near(second))]
  const marks: Mark[] = [
    ...risesOf(lanes, 'retries_total').map((second): Mark => ({ second, kind: 'retry' })),
    ...ooms.map((second): Mark => ({ second, kind: 'oom' })),
  ]
  return marks.toSorted((a, b) => a.second - b.second)
}
