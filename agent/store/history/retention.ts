// Deletes what is too old or too much, a few rows at a time, and gives the pages back.
import type { Disk, Resolution } from './disk.ts'

export type Retention = {
  readonly rawMs: number
  readonly minutesMs: number
  readonly hoursMs: number
  /** Of the database file; the oldest raw goes first, then the oldest minutes, then hours. */
  readonly maxBytes: number
}
const HOUR_MS = 3_600_000
export const DEFAULT_RETENTION: Retention = { rawMs: 24 * HOUR_MS, minutesMs: 30 * 24 * HOUR_MS, hoursMs: 400 * 24 * HOUR_MS, maxBytes: 1024 ** 3 }

/** Rows deleted per call and table: ten times what 1,500 series produce in a second, in less than a millisecond. */
const ROWS = 8
/** Pages given back per call, and how many may lie free for reuse before. */
const VACUUM_PAGES = 64
const FREE_PAGES = 256
/** Raw that size alone never takes: what just happened is what an operator looks for. */
const LAST_RAW_SECONDS = 3_600

export type Trim = (now: number) => void

export function createTrim(disk: Disk, retention: Retention): Trim {
  const { db } = disk
  const oldest = {
    raw: db.prepare<[], { id: number; t: number; samples: number }>(`SELECT id, t1 AS t, samples FROM raw ORDER BY t1 LIMIT ${ROWS}`),
    minutes: db.prepare<[], { id: number; t: number; samples: number }>(`SELECT id, t0 + 3600 AS t, 0 AS samples FROM minutes ORDER BY t0 LIMIT ${ROWS}`),
    hours: db.prepare<[], { id: number; t: number; samples: number }>(`SELECT id, t0 + 172800 AS t, 0 AS samples FROM hours ORDER BY t0 LIMIT ${ROWS}`),
  }
  const remove = {
    raw: db.prepare<[number]>('DELETE FROM raw WHERE id = ?'),
    minutes: db.prepare<[number]>('DELETE FROM minutes WHERE id = ?'),
    hours: db.prepare<[number]>('DELETE FROM hours WHERE id = ?'),
  }
  const mark = db.prepare<[string, number]>(
    'INSERT INTO trimmed (resolution, until) VALUES (?, ?) ON CONFLICT (resolution) DO UPDATE SET until = max(until, excluded.until)',
  )
  const forgetSeries = db.prepare<[number]>(`DELETE FROM series WHERE id IN (SELECT id FROM series WHERE ended < ? LIMIT ${ROWS})`)

  /** Deletes rows that end before `until`; returns whether there was one. */
  const take = (table: Resolution, until: number): boolean => {
    const rows = oldest[table].all().filter((row) => row.t < until)
    for (const row of rows) {
      remove[table].run(row.id)
      disk.forgetSamples(row.samples)
    }
    const last = rows.at(-1)
    if (last !== undefined) mark.run(table, last.t)
    return last !== undefined
  }
  return (now) => {
    const second = Math.floor(now / 1000)
    take('raw', second - retention.rawMs / 1000)
    take('minutes', second - retention.minutesMs / 1000)
    take('hours', second - retention.hoursMs / 1000)
    forgetSeries.run(second - Math.max(retention.hoursMs, retention.minutesMs, retention.rawMs) / 1000)
    const { all, free, bytes } = disk.pages()
    // The newest rows of minutes and hours are still being filled, so they are never taken.
    if ((all - free) * bytes > retention.maxBytes) {
      if (!take('raw', second - LAST_RAW_SECONDS) && !take('minutes', second)) take('hours', second)
    }
    if (free > FREE_PAGES || (free > 0 && all * bytes > retention.maxBytes)) db.pragma(`incremental_vacuum(${VACUUM_PAGES})`)
  }
}
