// What has not been written as a block yet: per series the last minutes, second by second, in groups that are written at different times.
import type { Labels, Series } from '../../model/series.ts'

/** Seconds in a block. Longer ones are denser, but cost memory and replay after a crash. */
export const BLOCK_SECONDS = 300
/** A group is written this long after its block is full: at least long enough for late readings, at most so that groups spread over the minutes. */
const MIN_DELAY_SECONDS = 5
const MAX_DELAY_SECONDS = 60
const CAPACITY = BLOCK_SECONDS + MAX_DELAY_SECONDS
/** Series of one metric that share a block: enough to fill a page of the database, few enough to write one in less than a millisecond. */
const SERIES_PER_GROUP = 32
/** Readings older than the open block by less than this are late and dropped; by more, the clock was set back and a new block begins. */
const LATE_SECONDS = 60

export type Column = {
  readonly key: string
  readonly labels: Labels
  readonly group: Group
  /** Row id of the series; 0 while the database does not know it. */
  id: number
  /** NaN where there was no reading. */
  readonly values: Float64Array
  /** Readings in `values`. */
  filled: number
  /** False once it was silent for a whole block and forgotten; its series then gets another column. */
  alive: boolean
}

export type Group = {
  readonly metric: string
  /** Distinguishes the groups of one metric. */
  readonly part: number
  readonly columns: Column[]
  /** Second (Unix) of the first value; -1 while there is none. */
  start: number
  /** Newest second that was taken in. */
  newest: number
  /** Lowest journal record that holds a value of this block, and the first of what is behind it. */
  firstSeq: number
  nextSeq: number
  /** Place of this group in the grid of blocks. */
  readonly phase: number
  readonly delay: number
}

export type Windows = {
  /** The column of a series, made when it is new. */
  readonly column: (series: Series) => Column
  /** The same for a series that only the database knows so far. */
  readonly restore: (metric: string, key: string, labels: Labels, id: number) => Column
  /** False: too late, dropped. */
  readonly put: (column: Column, second: number, value: number, seq: number) => boolean
  /** The next group whose block is full and due at this second. */
  readonly due: (second: number) => Group | undefined
  /** Drops the first `seconds` of a group, and its series that were silent all the time; returns those. */
  readonly drop: (group: Group, seconds: number) => readonly Column[]
  readonly groups: () => readonly Group[]
  readonly of: (metric: string) => readonly Group[]
  readonly columns: () => Iterable<Column>
  /** Whether the series has a column, perhaps another one than before. */
  readonly lives: (key: string) => boolean
  readonly size: () => number
  /** Lowest journal record that is still needed. */
  readonly neededSeq: () => number
}

/** `roll` must write the whole group away (and drop it), because the time has jumped. */
export function createWindows(roll: (group: Group) => void): Windows {
  const byKey = new Map<string, Column>()
  // Sources reuse their Series objects, so the usual way is by identity; one that does not must not fill the memory.
  let bySeries = new Map<Series, Column>()
  const byMetric = new Map<string, Group[]>()
  const all: Group[] = []
  let made = 0
  /** The column that a value is being put into: a jump of time must not forget it. */
  let held: Column | undefined

  const groupFor = (metric: string): Group => {
    const groups = byMetric.get(metric) ?? []
    const free = groups.find((group) => group.columns.length < SERIES_PER_GROUP)
    if (free !== undefined) return free
    const parts = new Set(groups.map((group) => group.part))
    let part = 0
    while (parts.has(part)) part++
    // 137 is coprime to 275 (five minutes less the shortest delay and its margin): groups made one after the other are far apart.
    const place = (made++ * 137) % 275
    const group: Group = {
      metric,
      part,
      columns: [],
      start: -1,
      newest: -1,
      firstSeq: Number.POSITIVE_INFINITY,
      nextSeq: Number.POSITIVE_INFINITY,
      phase: Math.floor(place / 55) * 60,
      delay: MIN_DELAY_SECONDS + (place % 55),
    }
    byMetric.set(metric, [...groups, group])
    all.push(group)
    return group
  }
  const make = (metric: string, key: string, labels: Labels, id: number): Column => {
    const group = groupFor(metric)
    const column = { key, labels, group, id, values: new Float64Array(CAPACITY).fill(Number.NaN), filled: 0, alive: true }
    group.columns.push(column)
    byKey.set(key, column)
    return column
  }
  const forget = (column: Column): void => {
    column.alive = false
    byKey.delete(column.key)
    column.group.columns.splice(column.group.columns.indexOf(column), 1)
    // The few other entries of the map would keep it alive; they come back by key.
    bySeries = new Map()
  }
  const discard = (group: Group): void => {
    const left = (byMetric.get(group.metric) ?? []).filter((other) => other !== group)
    if (left.length > 0) byMetric.set(group.metric, left)
    else byMetric.delete(group.metric)
    all.splice(all.indexOf(group), 1)
  }

  return {
    column(series) {
      const known = bySeries.get(series)
      if (known !== undefined) return known
      const column = byKey.get(series.key) ?? make(series.metric.name, series.key, presentLabels(series.labels), 0)
      if (bySeries.size > 2 * byKey.size + 64) bySeries = new Map()
      bySeries.set(series, column)
      return column
    },
    restore: (metric, key, labels, id) => byKey.get(key) ?? make(metric, key, labels, id),
    put(column, second, value, seq) {
      const { group } = column
      if (group.start >= 0 && second < group.start && group.newest - second <= LATE_SECONDS) return false
      if (group.start >= 0 && (second < group.start || second >= group.start + CAPACITY)) {
        held = column
        roll(group)
        held = undefined
      }
      if (group.start < 0) {
        // The grid, so that a block holds whole minutes and each group's blocks end at its own time.
        group.start = Math.floor((second - group.phase) / BLOCK_SECONDS) * BLOCK_SECONDS + group.phase
        group.newest = second
        group.firstSeq = seq
      }
      const at = second - group.start
      if (second > group.newest) group.newest = second
      if (at >= BLOCK_SECONDS && seq < group.nextSeq) group.nextSeq = seq
      if (Number.isNaN(column.values[at] ?? 0)) column.filled++
      column.values[at] = value
      return true
    },
    // A group that fell silent altogether is due as well, to be forgotten.
    due: (second) =>
      all.find((group) => second >= (group.start >= 0 ? group.start + BLOCK_SECONDS + group.delay : group.newest + 2 * BLOCK_SECONDS) && group.newest >= 0),
    drop(group, seconds) {
      const silent: Column[] = []
      let left = 0
      for (const column of group.columns) {
        const { values } = column
        if (column.filled === 0) {
          if (column !== held) silent.push(column)
        } else {
          values.copyWithin(0, seconds)
          values.fill(Number.NaN, Math.max(0, CAPACITY - seconds))
          column.filled = 0
          for (let i = 0; i < CAPACITY - seconds; i++) if (!Number.isNaN(values[i] ?? 0)) column.filled++
          left += column.filled
        }
      }
      for (const column of silent) forget(column)
      group.start = left > 0 ? group.start + seconds : -1
      group.firstSeq = left > 0 ? group.nextSeq : Number.POSITIVE_INFINITY
      group.nextSeq = Number.POSITIVE_INFINITY
      if (group.columns.length === 0) discard(group)
      return silent
    },
    // A copy: dropping one takes it out.
    groups: () => [...all],
    of: (metric) => byMetric.get(metric) ?? [],
    columns: () => byKey.values(),
    lives: (key) => byKey.has(key),
    size: () => byKey.size,
    neededSeq: () => all.reduce((least, group) => Math.min(least, group.firstSeq), Number.POSITIVE_INFINITY),
  }
}

/** An empty value is the same as no label (as in `makeSeries`). */
function presentLabels(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))
}
