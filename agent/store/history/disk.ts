// What history asks of its database, as prepared statements; nothing here decides when.
import type { Database } from 'better-sqlite3'
import type { Labels } from '../../model/series.ts'
import { packBlock, unpackBlock } from './block.ts'
import type { Segment } from './block.ts'
import { createRollup, decodeRollup, encodeRollup, mergeRollups } from './rollup.ts'
import type { Rollup } from './rollup.ts'

export type Resolution = 'raw' | 'minutes' | 'hours'
/** Seconds of a step, and of the row that holds the steps. */
export const ROLLUPS = [
  { table: 'minutes', step: 60, row: 3_600 },
  { table: 'hours', step: 3_600, row: 172_800 },
] as const
export const ROW_SECONDS = { raw: 1_024, minutes: 3_600, hours: 172_800 } as const

export type StoredSeries = { readonly id: number; readonly key: string; readonly labels: Labels }
export type JournalRow = { readonly seq: number; readonly kind: number; readonly data: Uint8Array }
export const RECORD = 0
export const MARKER = 1
const PROBE = 2
/** More than the next minute needs. */
const PROBE_BYTES = 256 * 1024

export type Disk = ReturnType<typeof createDisk>

export function createDisk(db: Database) {
  const metricOf = db.prepare<[string], number>('SELECT id FROM metrics WHERE name = ?').pluck()
  const addMetric = db.prepare<[string]>('INSERT INTO metrics (name) VALUES (?)')
  const seriesOf = db.prepare<[string], { id: number; ended: number | null }>('SELECT id, ended FROM series WHERE key = ?')
  const addSeries = db.prepare<[number, string, string]>('INSERT INTO series (metric_id, key, labels) VALUES (?, ?, ?)')
  const setEnded = db.prepare<[number | null, number]>('UPDATE series SET ended = ? WHERE id = ?')
  const unended = db.prepare<[], number>('SELECT id FROM series WHERE ended IS NULL').pluck()
  const ofMetric = db.prepare<[number, number], { id: number; key: string; labels: string }>(
    'SELECT id, key, labels FROM series WHERE metric_id = ? AND (ended IS NULL OR ended >= ?)',
  )
  const named = db.prepare<[number], { metric: string; key: string; labels: string }>(
    'SELECT m.name AS metric, s.key, s.labels FROM series s JOIN metrics m ON m.id = s.metric_id WHERE s.id = ?',
  )
  const addJournal = db.prepare<[number, number, Uint8Array]>('INSERT INTO journal (seq, kind, data) VALUES (?, ?, ?)')
  const cutJournal = db.prepare<[number]>('DELETE FROM journal WHERE seq < ?')
  const readJournal = db.prepare<[], JournalRow>('SELECT seq, kind, data FROM journal ORDER BY seq')
  const lastSeq = db.prepare<[], number | null>('SELECT max(seq) FROM journal').pluck()
  const readMarkers = db.prepare<[], Uint8Array>(`SELECT data FROM journal WHERE kind = ${MARKER} ORDER BY seq`).pluck()
  const addRaw = db.prepare<[number, number, number, number, Uint8Array]>('INSERT INTO raw (metric_id, t0, t1, samples, data) VALUES (?, ?, ?, ?, ?)')
  const blocks = (table: Resolution) =>
    db.prepare<[number, number, number], { t0: number; data: Uint8Array }>(`SELECT t0, data FROM ${table} WHERE metric_id = ? AND t0 > ? AND t0 <= ?`)
  const readBlocks = { raw: blocks('raw'), minutes: blocks('minutes'), hours: blocks('hours') }
  const rollup = (table: Resolution) => ({
    read: db.prepare<[number, number, number], { id: number; data: Uint8Array }>(`SELECT id, data FROM ${table} WHERE metric_id = ? AND t0 = ? AND part = ?`),
    add: db.prepare<[number, number, number, Uint8Array]>(`INSERT INTO ${table} (metric_id, t0, part, data) VALUES (?, ?, ?, ?)`),
    update: db.prepare<[Uint8Array, number]>(`UPDATE ${table} SET data = ? WHERE id = ?`),
  })
  const rollups = { minutes: rollup('minutes'), hours: rollup('hours') }
  const oldestRaw = db.prepare<[], { t1: number; t0: number }>('SELECT t1, t0 FROM raw ORDER BY t1 LIMIT 1')
  const readTrimmed = db.prepare<[string], number>('SELECT until FROM trimmed WHERE resolution = ?').pluck()
  const totalSamples = db.prepare<[], number>('SELECT total(samples) FROM raw').pluck()

  /** Made once: making one costs as much as a small transaction. */
  const within = db.transaction((run: () => void) => run())

  const metricIds = new Map<string, number>()
  const metricId = (name: string): number | undefined => {
    const known = metricIds.get(name) ?? metricOf.get(name)
    if (known !== undefined) metricIds.set(name, known)
    return known
  }
  const requireMetric = (name: string): number => metricId(name) ?? Number(addMetric.run(name).lastInsertRowid)
  const [old, merged] = [createRollup(), createRollup()]
  let samples = totalSamples.get() ?? 0

  return {
    db,
    /** All or nothing. What it cached about rows that are rolled back is forgotten. */
    transaction(run: () => void): void {
      const before = samples
      try {
        within.immediate(run)
      } catch (error) {
        samples = before
        metricIds.clear()
        throw error
      }
    },
    /** Finds or adds a series; one that had ended lives again. */
    seriesId(metric: string, key: string, labels: Labels): number {
      const known = seriesOf.get(key)
      if (known === undefined) return Number(addSeries.run(requireMetric(metric), key, JSON.stringify(labels)).lastInsertRowid)
      if (known.ended !== null) setEnded.run(null, known.id)
      return known.id
    },
    endSeries: (id: number, second: number): void => void setEnded.run(second, id),
    unendedSeries: (): readonly number[] => unended.all(),
    seriesById(id: number): { readonly metric: string; readonly key: string; readonly labels: Labels } | undefined {
      const row = named.get(id)
      return row && { metric: row.metric, key: row.key, labels: parseLabels(row.labels) }
    },
    /** Series of a metric that lived at `from` (Unix s) or later. */
    series(metric: string, from: number): readonly StoredSeries[] {
      const id = metricId(metric)
      return id === undefined ? [] : ofMetric.all(id, from).map((row) => ({ id: row.id, key: row.key, labels: parseLabels(row.labels) }))
    },
    addJournal: (seq: number, kind: number, data: Uint8Array): void => void addJournal.run(seq, kind, data),
    /** Really writes a little and takes it back; throws what the disk says. */
    probe(): void {
      addJournal.run(-1, PROBE, new Uint8Array(PROBE_BYTES))
      cutJournal.run(0)
    },
    cutJournal: (below: number): void => void cutJournal.run(below),
    /** Seven minutes of records, a megabyte or two. */
    journal: (): readonly JournalRow[] => readJournal.all(),
    lastSeq: (): number => lastSeq.get() ?? 0,
    markers: (): readonly Uint8Array[] => readMarkers.all(),
    addRaw(metric: string, t0: number, t1: number, count: number, data: Uint8Array): void {
      addRaw.run(requireMetric(metric), t0, t1, count, data)
      samples += count
    },
    /** Merges steps of some series into a row of minutes or hours; the other series of the row are copied as they are. */
    mergeRollups(table: 'minutes' | 'hours', metric: string, t0: number, part: number, updates: ReadonlyMap<number, Rollup>): void {
      const id = requireMetric(metric)
      const row = rollups[table].read.get(id, t0, part)
      const present = row === undefined ? [] : readable(row.data)
      const segments = present.map((segment) => {
        const update = updates.get(segment.id)
        if (update === undefined) return segment
        decodeRollup(segment.bytes, old)
        mergeRollups(merged, old, update)
        return { id: segment.id, bytes: encodeRollup(merged) }
      })
      const known = new Set(present.map((segment) => segment.id))
      for (const [series, update] of updates) if (!known.has(series)) segments.push({ id: series, bytes: encodeRollup(update) })
      const data = packBlock(segments)
      if (row === undefined) rollups[table].add.run(id, t0, part, data)
      else rollups[table].update.run(data, row.id)
    },
    /** Rows of a metric that can hold seconds from `from` to `to`. */
    *blocks(table: Resolution, metric: string, from: number, to: number): Generator<{ readonly t0: number; readonly data: Uint8Array }> {
      const id = metricId(metric)
      if (id !== undefined) yield* readBlocks[table].iterate(id, from - ROW_SECONDS[table], to)
    },
    /** Unix s up to which data of this resolution was deleted by retention; -1 when none was. */
    trimmedUntil: (table: Resolution): number => readTrimmed.get(table) ?? -1,
    oldestRaw: (): number | undefined => oldestRaw.get()?.t0,
    samples: (): number => samples,
    /** Retention deleted this many. */
    forgetSamples: (count: number): void => void (samples -= count),
    pages: () => ({
      all: Number(db.pragma('page_count', { simple: true })),
      free: Number(db.pragma('freelist_count', { simple: true })),
      bytes: Number(db.pragma('page_size', { simple: true })),
    }),
  }
}

/** A row that cannot be read is started over rather than kept for ever. */
function readable(data: Uint8Array): readonly Segment[] {
  try {
    return unpackBlock(data)
  } catch (error) {
    if (error instanceof RangeError) return []
    throw error
  }
}

function parseLabels(text: string): Labels {
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null) throw new RangeError(`history series: expected an object of labels, found ${text}`)
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]))
}
